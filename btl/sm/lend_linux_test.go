package sm

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/borrowing"
	"github.com/strandmp/strand/param"
)

// lending is a pair of which rank 0 may lend to rank 1.
func lending(t *testing.T, settings ...param.Setting) *pair {
	t.Helper()
	p := connect(t, settings...)
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	require.True(t, p.ep[1].receive())
	require.NotZero(t, p.ep[1].pipe.wants.said&mayLend, "it has read the mark")
	return p
}

// A frame that is lent and that is longer than one poll reads stays where it is until all of it was read: here what a peer has left that is
// no more, which no Mover reads.
func TestLentLongerThanOnePollReads(t *testing.T) {
	p := lending(t, param.Setting{Name: pMaxSendSize, Text: "4M", Source: param.Source{Kind: param.Option, Where: "test"}})
	f := p.lend(3*readBudget + 1)
	require.NoError(t, sever(p.ep[0]))
	p.ep[1].event()
	require.Equal(t, 1, p.recv[1].Downs)
	require.Len(t, p.recv[1].Frames, 2)
	assert.True(t, string(f.Payload) == p.recv[1].Frames[1].Payload)
}

// lend has rank 0 lend a frame of that many bytes.
func (p *pair) lend(size int) *btl.Frame {
	p.t.Helper()
	f := frame(size)
	fill(f, 'a')
	p.lendFrame(f)
	return f
}

func (p *pair) lendFrame(f *btl.Frame) {
	p.t.Helper()
	for i := range p.ep[0].pipe.choice.tries {
		p.ep[0].pipe.choice.tries[i] = tries{trial: trial, steady: 1, pause: 1}
	}
	require.Equal(p.t, btl.Taken, p.ep[0].Send(f, 0))
	require.NotEmpty(p.t, p.ep[0].pipe.loans)
}

func fill(f *btl.Frame, c byte) { copy(f.Payload, bytes.Repeat([]byte{c}, f.Size)) }

// A frame that is lent arrives, and its memory is the sender's until the receiver has claimed it: what is read
// within a call, and what is read by a Mover.
func TestLending(t *testing.T) {
	for _, size := range []int{neverLent + 1, 64 << 10, 300_000} {
		p := lending(t)
		f := p.lend(size)
		p.ep[0].Poll()
		assert.Empty(t, p.recv[0].Freed)
		assert.GreaterOrEqual(t, p.ep[0].Outstanding(), size)
		p.until("arrived", func() bool { return len(p.recv[1].Frames) == 2 })
		assert.Equal(t, string(f.Payload), p.recv[1].Frames[1].Payload)
		p.ep[0].Poll()
		assert.Equal(t, []*btl.Frame{f}, p.recv[0].Freed)
		assert.Empty(t, p.ep[0].pipe.loans)
		assert.Zero(t, p.ep[0].pipe.lent)
	}
}

// Memory that is lent can be had back at any time. What has not been claimed by then is read from a copy, or
// is not sent, as the contract has it for frames that were begun and for others.
func TestWhatIsLentIsTakenBack(t *testing.T) {
	recall := func(p *pair) { p.ep[0].Recall() }
	leave := func(p *pair) { _ = p.ep[0].Close() }
	abort := func(p *pair) { p.ep[0].Abort() }
	for name, c := range map[string]struct {
		do      func(*pair)
		begun   bool // the receiver has begun to read it
		arrives bool
	}{
		"recalled":            {recall, false, false},
		"recalled when begun": {recall, true, true},
		"closed":              {leave, false, true},
		"closed when begun":   {leave, true, true},
		"aborted":             {abort, false, false},
		"aborted when begun":  {abort, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, goesOn := lending(t), strings.HasPrefix(name, "recalled")
			f := p.lend(40_000)
			back := func() {
				c.do(p)
				fill(f, 'b')
			}
			if c.begun {
				p.recv[1].OnBegin = func([]byte, int) error { back(); return nil }
			} else {
				back()
			}
			if goesOn {
				require.NotEqual(t, btl.Broken, p.ep[0].Send(frame(9), 0))
				p.until("what comes behind it", func() bool {
					n := len(p.recv[1].Frames)
					return n > 1 && len(p.recv[1].Frames[n-1].Payload) == 9
				})
			} else {
				p.until("the end", func() bool { return p.recv[1].Downs == 1 })
			}
			var got []string
			for _, f := range p.recv[1].Frames {
				if len(f.Payload) == 40_000 {
					got = append(got, f.Payload)
				}
			}
			if c.arrives {
				require.Len(t, got, 1)
				assert.Equal(t, strings.Repeat("a", 40_000), got[0], "as it was lent")
			} else {
				assert.Empty(t, got)
			}
			assert.Empty(t, p.recv[0].Freed)
			if goesOn {
				assert.Empty(t, p.ep[0].pipe.loans)
			}
		})
	}
}

// A peer may leave while a long frame of its is still read from its memory: the frame arrives, and then the peer's goodbye.
func TestWhoLeavesWhileItLends(t *testing.T) {
	for name, looks := range map[string]func(*pair){
		"before anything is read": func(*pair) {},
		"when some of it is":      func(p *pair) { p.ep[1].receive() },
	} {
		t.Run(name, func(t *testing.T) {
			p := lending(t)
			f := p.lend(300_000)
			looks(p)
			require.NoError(t, p.ep[0].Close())
			fill(f, 'b')
			p.until("the end", func() bool { return p.recv[1].Downs == 1 })
			assert.ErrorIs(t, p.recv[1].Err, btl.ErrPeerClosed)
			require.Len(t, p.recv[1].Frames, 2)
			assert.Equal(t, strings.Repeat("a", 300_000), p.recv[1].Frames[1].Payload)
		})
	}
}

// mapped is a frame whose memory is not Go's, and has it be there no more.
func mapped(t *testing.T, size int) (f *btl.Frame, gone func()) {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(mem)) })
	f = &btl.Frame{Header: []byte("header"), Payload: mem, Size: size}
	fill(f, 'a')
	return f, func() { require.NoError(t, unix.Mprotect(mem, unix.PROT_NONE)) } // else something else could be mapped there
}

// Who has its memory back may give it to the system. That it can not be read any more is nobody's fault then: the copy is
// read in its place, and others are lent to as before.
func TestMemoryThatIsGoneOnceItWasTakenBack(t *testing.T) {
	const size = 300_000
	for name, c := range map[string]struct {
		takeBack func(*pair)
		arrives  bool
	}{
		"recalled": {func(p *pair) { p.ep[0].Recall() }, true},
		"closed":   {func(p *pair) { require.NoError(t, p.ep[0].Close()) }, true},
		"aborted":  {func(p *pair) { p.ep[0].Abort() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := lending(t)
			f, gone := mapped(t, size)
			p.lendFrame(f)
			require.True(t, p.ep[1].receive())
			require.True(t, p.ep[1].pipe.mover.given, "it is about to be read")
			c.takeBack(p)
			gone()
			p.until("the end of it", func() bool { return p.recv[1].Downs == 1 || len(p.recv[1].Frames) == 2 })
			assert.False(t, p.modules[1].unreadable)
			if !c.arrives {
				assert.ErrorContains(t, p.recv[1].Err, "taken back")
				return
			}
			require.Len(t, p.recv[1].Frames, 2)
			assert.Equal(t, strings.Repeat("a", size), p.recv[1].Frames[1].Payload)
		})
	}
}

// borrowsFrom has the second end read what is lent by a process with that number and mark.
func (p *pair) borrowsFrom(pid int, mark uint64) {
	peer := &p.ep[1].pipe.peer
	*peer = borrowing.Of(pid)
	_ = peer.Try(p.modules[0].mark.Address(), mark) // what it finds is not heeded
}

// What can not be read ends the connection, and its successors lend nothing: another process has the peer's
// number, or the memory is none that the system reads.
func TestWhatCanNotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*pair)
		want  string
	}{
		"another process": {func(p *pair) { p.borrowsFrom(os.Getpid(), p.modules[0].mark.Value()+1) }, "it is another process's"},
		"no memory": {func(p *pair) {
			at(p.ep[0].pipe.loans[0].slot, addressAt).Store(8)
		}, "bad address"},
		"no process": {func(p *pair) { p.borrowsFrom(1<<30, p.modules[0].mark.Value()) }, "no such process"},
	} {
		t.Run(name, func(t *testing.T) {
			p := lending(t)
			p.lend(40_000)
			c.spoil(p)
			require.True(t, p.ep[1].receive())
			require.Equal(t, 1, p.recv[1].Downs)
			assert.ErrorContains(t, p.recv[1].Err, c.want)
			assert.Equal(t, 1, p.recv[1].Dropped)
			assert.Len(t, p.recv[1].Frames, 1)
			assert.Equal(t, name != "no process", p.modules[1].unreadable)
		})
	}
}

// A rank that does not want single copies neither lends nor borrows.
func TestNoSingleCopies(t *testing.T) {
	p := connect(t, param.Setting{Name: pSingleCopy, Text: "none", Source: param.Source{Kind: param.Option, Where: "test"}})
	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	require.True(t, p.ep[1].receive())
	assert.Equal(t, btl.Done, p.ep[0].Send(frame(20_000), 0))
	assert.Zero(t, p.ep[1].pipe.wants.said)
}
