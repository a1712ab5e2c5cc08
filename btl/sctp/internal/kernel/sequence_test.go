//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
)

// unordered feeds an association with pieces as the kernel may hand them over:
// "5" is message 5, whole, "5-" a first or middle piece of it.
func unordered(t *testing.T, first uint16, pieces string) *peer {
	sock := new(sctpsock.Socket)
	k := &kernel{cfg: stack.Config{}, sock: sock, assocs: map[sctpsock.AssocID]*association{}}
	p := &peer{t: t, up: true}
	a := k.add(3, p)
	a.order = order{streams: []sequence{{}, {next: first}}, most: strangersEarly}
	for _, piece := range strings.Fields(pieces) {
		name := strings.TrimSuffix(piece, "-")
		a.arrived(sctpsock.RecvInfo{Assoc: 3, Stream: 1, SSN: first + uint16(name[0]-'0'), End: name == piece}, []byte(name))
		if p.ended != nil {
			break
		}
	}
	return p
}

func TestOrder(t *testing.T) {
	for pieces, want := range map[string]string{
		"0 1 2 3":            "0 1 2 3",
		"2 3 0 1 4":          "0 1 2 3 4",
		"3 2 1 0":            "0 1 2 3",
		"0- 2 0- 1- 0 1 3":   "000 11 2 3",
		"1- 1- 1 3 0 2- 2 4": "0 111 22 3 4",
		"1 2":                "",
	} {
		for _, first := range []uint16{0, 65534} { // numbers begin anew
			p := unordered(t, first, pieces)
			require.NoError(t, p.ended)
			var got []string
			for _, m := range p.messages {
				got = append(got, string(m.data))
			}
			assert.Equal(t, want, strings.Join(got, " "), pieces)
		}
	}
	p := unordered(t, 0, "0 1 0")
	assert.ErrorIs(t, p.ended, syscall.EPROTO, "a number that has been")
}

// The bytes of pieces that are kept because they came early are bounded, and the account of
// them is given back.
func TestOrderKeepsSoMuch(t *testing.T) {
	p := &peer{t: t, up: true}
	a := (&kernel{sock: new(sctpsock.Socket), assocs: map[sctpsock.AssocID]*association{}}).add(3, p)
	const size = 1000
	a.order = order{streams: make([]sequence, 2), most: 3 * (size + earlyCost)}
	arrive := func(stream, ssn uint16) {
		a.arrived(sctpsock.RecvInfo{Assoc: 3, Stream: stream, SSN: ssn, End: true}, make([]byte, size))
	}
	for range 5 {
		for _, ssn := range []uint16{1, 2, 3, 0} {
			arrive(1, a.order.streams[1].next-a.order.streams[1].next%4+ssn)
		}
		require.NoError(t, p.ended)
		require.Zero(t, a.order.kept)
	}
	assert.Equal(t, 20, p.count)
	for ssn := range uint16(3) {
		arrive(0, 1+ssn)
	}
	require.NoError(t, p.ended)
	arrive(0, 4)
	assert.ErrorIs(t, p.ended, syscall.EPROTO)
	assert.ErrorContains(t, p.ended, "3192 bytes wait")
}
