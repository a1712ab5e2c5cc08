package handoff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/framing"
)

func frame(payload string) *btl.Frame {
	return &btl.Frame{Header: []byte("h"), Payload: []byte(payload), Size: len(payload)}
}

// Whoever is refused is told when there is room: no frame is lost, none overtakes another,
// and nobody waits for ever.
func TestFramesThroughAFullQueue(t *testing.T) {
	const frames = 3000
	var loop btltest.Loop
	g := NewGroup(&loop)
	writable := 0
	bound := NewBound(g, 1000, func() { writable++ })
	q := NewQueue(bound)
	from, to := io.Pipe()
	g.Go(func() { to.CloseWithError(q.Write(to)) })
	var recv btltest.Receiver
	var s framing.Scanner
	s.Start(&recv, 5000, nil)
	var end error
	ctx, cancel := context.WithCancel(g.Context())
	defer cancel()
	g.Go(func() {
		g.Read(ctx, from, 777, func(b []byte, err error) {
			require.NoError(t, s.Feed(b))
			end = err
		})
	})
	refused := 0
	for i := range frames {
		f := frame(fmt.Sprint(i, strings.Repeat("x", i*7%400)))
		for q.Send(f) == btl.Busy {
			require.Less(t, bound.Held(), 1000+500, "a frame more than the bound")
			before := writable
			refused++
			loop.Until(t, "room", func() bool { return writable > before })
		}
	}
	q.End()
	loop.Until(t, "the end", func() bool { return end != nil })
	require.ErrorIs(t, end, io.EOF)
	require.Len(t, recv.Frames, frames)
	for i, f := range recv.Frames {
		require.True(t, strings.HasPrefix(f.Payload, fmt.Sprint(i)), "frame %d: %.20s", i, f.Payload)
	}
	require.Equal(t, refused, writable, "one call for each refusal")
	require.Zero(t, bound.Held())
	g.Close()
}

// A writer tells of each call, and waits to be let go on.
type writer struct {
	called chan struct{}
	goOn   chan error
	got    bytes.Buffer
}

func newWriter() *writer {
	return &writer{called: make(chan struct{}, 100), goOn: make(chan error, 100)}
}

func (w *writer) Write(b []byte) (int, error) {
	w.got.Write(b)
	w.called <- struct{}{}
	return len(b), <-w.goOn
}

// A stream that is stuck holds up no other as long as the bound is not reached, and what
// waits goes out in one write.
func TestStreamsShareABound(t *testing.T) {
	var loop btltest.Loop
	g := NewGroup(&loop)
	ready := false
	bound := NewBound(g, 200, func() { ready = true })
	stuck, free := NewQueue(bound), NewQueue(bound)
	a, b := newWriter(), newWriter()
	var errs [2]error
	ended := 0
	for i, s := range []struct {
		q *Queue
		w *writer
	}{{stuck, a}, {free, b}} {
		g.Go(func() {
			err := s.q.Write(s.w)
			g.Post(func() { errs[i] = err; ended++ })
		})
	}
	for range 100 {
		b.goOn <- nil
	}
	require.Equal(t, btl.Done, stuck.Send(frame(strings.Repeat("s", 50))))
	<-a.called
	for range 20 {
		r := free.Send(frame(strings.Repeat("f", 50)))
		if r == btl.Busy {
			loop.Until(t, "room", func() bool { return ready })
			ready = false
		}
	}
	free.Say([]byte("bye"))
	free.End()
	loop.Until(t, "the end of the free one", func() bool { return ended == 1 })
	require.True(t, strings.HasSuffix(b.got.String(), "bye"))
	for stuck.Send(frame(strings.Repeat("s", 50))) != btl.Busy {
	}
	a.goOn <- nil // its first write
	<-a.called
	a.goOn <- nil // and all the rest
	loop.Until(t, "room", func() bool { return ready })
	require.Zero(t, bound.Held())
	require.Empty(t, a.called)
	stuck.Say([]byte("x"))
	broken := errors.New("broken")
	a.goOn <- broken
	loop.Until(t, "the end", func() bool { return ended == 2 })
	require.ErrorIs(t, errs[0], broken)
	require.NoError(t, errs[1])
	require.Equal(t, btl.Done, stuck.Send(frame("to nobody")), "the reader will tell that it is broken")
	g.Close()
}

// A queue that is cut writes nothing more.
func TestCut(t *testing.T) {
	var loop btltest.Loop
	g := NewGroup(&loop)
	q := NewQueue(NewBound(g, 1000, func() {}))
	q.Say([]byte("never written"))
	q.Cut()
	require.ErrorIs(t, q.Write(io.Discard), btl.ErrClosed)
	g.Close()
}

// What a goroutine has for the loop is taken, or is its own again: never both, never neither.
func TestDoWhileTheModuleCloses(t *testing.T) {
	for range 200 {
		var loop btltest.Loop
		g := NewGroup(&loop)
		var taken, kept atomic.Int32
		const n = 4
		for range n {
			g.Go(func() {
				if !g.Do(g.Context(), func() { taken.Add(1) }) {
					kept.Add(1)
				}
			})
		}
		loop.Turn()
		g.Close()
		loop.Run()
		require.EqualValues(t, n, taken.Load()+kept.Load())
	}
}

// Nothing is posted, or read, after the end; a reader whose stream has no end comes to its own.
func TestNothingComesAfterClose(t *testing.T) {
	var loop btltest.Loop
	g := NewGroup(&loop)
	ctx, cancel := context.WithCancel(g.Context())
	pieces := 0
	g.Go(func() {
		g.Read(ctx, endless{}, 10, func(b []byte, err error) {
			if pieces++; pieces == 5 {
				cancel()
			}
		})
	})
	loop.Until(t, "five pieces", func() bool { return pieces == 5 })
	loop.Run()
	g.Post(func() { pieces++ })
	g.Close()
	loop.Run()
	require.Equal(t, 5, pieces)
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// Frames that wait cost no memory of their own.
func TestSendAllocatesNothing(t *testing.T) {
	var loop btltest.Loop
	g := NewGroup(&loop)
	q := NewQueue(NewBound(g, 1<<20, func() {}))
	f := frame(strings.Repeat("x", 100))
	spare := make([]byte, 0, 1<<10)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		q.Send(f)
		b, _ := q.take(spare[:0])
		spare = b
	}))
	g.Close()
}
