//go:build !race

package coherence

import "golang.org/x/sys/cpu"

// whole reports whether string moves write whole lines here: Intel calls that enhanced REP MOVSB (Optimization Reference Manual, section 3.7.6).
var whole = cpu.X86.HasERMS

// move copies n bytes. The stores within a string move are in no order, but all of them come before a store after it (Intel SDM, volume 3A,
// section 9.2.4.1; AMD APM, volume 2, section 7.2).
//
//go:noescape
func move(to, from *byte, n int)
