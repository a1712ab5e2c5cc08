// Package coll has the algorithms of collective calls: what each process sends to whom, and when.
//
// It knows nothing of transports, nor of the rest of Strand: a [Comm] is all it asks for. Every call is
// made by all processes of the communicator, with arguments that fit: the same root, the same
// lengths. A call returns when this process has done its part; it says nothing of the others, but
// for [Barrier].
//
// A communicator that is [Placed] knows which processes share a host. Then some calls go by hosts.
// One that is [Sharing] has memory that all its processes share. Then calls go by what each shows the
// others there, or lends them ([Commons]).
//
// For most calls there are several algorithms. A [Choice] names them, and takes by size and number
// of processes what it does not name; the borders are in one file, choice.go. The names are the
// field's: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
// MPICH" (IJHPCA 19(1), 2005), has nearly all of them.
//
// Buffers are the caller's, and the call's until it returns. Where in and out are the same memory
// the call works in place.
package coll

import "context"

// A Comm is what collective calls need of a communicator. Messages between two processes arrive in
// the order in which they were sent, and only those of the same call match.
type Comm interface {
	// Rank is this process's number, from 0 to Size−1.
	Rank() int
	Size() int
	// Send and Recv begin to pass a message. The buffers are the communicator's until Wait has
	// returned.
	Send(buf []byte, to int) error
	Recv(buf []byte, from int) error
	// Wait returns when all that was begun is complete. After an error nothing is under way any
	// more, and the call ends.
	Wait(ctx context.Context) error
	// Scratch returns memory that is the call's own until it returns.
	Scratch(n int) []byte
}

// An Op combines values, element by element.
type Op struct {
	// Size is the length of an element in bytes.
	Size int
	// Fold puts acc∘in into acc, or in∘acc if before is true: in comes from lower ranks then.
	Fold func(acc, in []byte, before bool)
	// Commutative says that a∘b is b∘a. If it is false, values are combined in the order of their
	// ranks, and always in the same way: results are the same in each run.
	Commutative bool
}

// given panics if ctx is nil, as the standard library does.
func given(ctx context.Context) {
	if ctx == nil {
		panic("strand: the context is nil; context.Background() is one that never ends")
	}
}

// A Passer is what calls need whose parts go from one process to another as they are: a [Comm] for parts of any kind, as
// memory that is described.
type Passer[P any] interface {
	Rank() int
	Size() int
	Send(part P, to int) error
	Recv(part P, from int) error
	Wait(ctx context.Context) error
	// Fill copies a part that stays on this process.
	Fill(to, from P) error
}

// passing is what a Comm and a Passer have in common.
type passing[P any] interface {
	Send(part P, to int) error
	Recv(part P, from int) error
	Wait(ctx context.Context) error
}

// bytesOf is a Comm as a Passer.
type bytesOf struct{ Comm }

// Fill implements [Passer].
func (bytesOf) Fill(to, from []byte) error {
	fill(to, from)
	return nil
}

// exchange sends to one process and receives from one, at the same time.
func exchange[P any, C passing[P]](ctx context.Context, c C, out P, to int, in P, from int) error {
	if err := c.Recv(in, from); err != nil {
		return err
	}
	if err := c.Send(out, to); err != nil {
		return err
	}
	return c.Wait(ctx)
}

func send[P any, C passing[P]](ctx context.Context, c C, buf P, to int) error {
	if err := c.Send(buf, to); err != nil {
		return err
	}
	return c.Wait(ctx)
}

func recv[P any, C passing[P]](ctx context.Context, c C, buf P, from int) error {
	if err := c.Recv(buf, from); err != nil {
		return err
	}
	return c.Wait(ctx)
}

// same reports whether two buffers are the same memory.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// fill copies a contribution to where it is worked on, unless it is there.
func fill(to, from []byte) {
	if !same(to, from) {
		copy(to, from)
	}
}

// A cut divides a buffer into parts as even as whole elements allow.
type cut struct {
	buf   []byte
	each  int // bytes of a part
	parts int
}

func cutOf(buf []byte, element, parts int) cut {
	elements := len(buf) / max(element, 1)
	return cut{buf, (elements + parts - 1) / parts * max(element, 1), parts}
}

// part returns parts from to to−1; the last ones may be shorter, or empty.
func (c cut) part(from, to int) []byte {
	n := len(c.buf)
	return c.buf[min(from*c.each, n):min(to*c.each, n)]
}

// below is the greatest power of two that is not above n.
func below(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}
