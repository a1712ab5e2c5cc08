package strandcmd

import "testing"

// A remote shell that gives strand there a terminal (ssh -t) changes what the two say to each other. The word for it comes where
// the launcher waits for an introduction, of which it shows the first 80 bytes.
func TestNoTerminalElsewhere(t *testing.T) {
	x := atTerminal(t, `$STRAND run-elsewhere; echo status $?`)
	x.await(`(?m)^.{0,60}no terminal.{0,30}: ssh -T`, 1)
	x.await(`status 1`, 1)
	x.end()
}
