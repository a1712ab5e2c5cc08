package strand

import (
	"context"

	"github.com/strandmp/strand/pml"
)

// An Outcome is how one of several requests ended: its place among them, its
// status and its error.
type Outcome = pml.Outcome

// The functions below take requests of one world; others are an error, and nothing
// ends. The zero Request stands for none, and is passed over. What they cost grows with
// the number of requests they are given, not with how long they wait.

// WaitAll waits until all requests are complete and returns the first error among
// them. Statuses, if not nil, has the length of reqs and takes their statuses.
// Requests that have ended are replaced by the zero Request, here and in the
// functions below; if ctx ends first none has.
func WaitAll(ctx context.Context, reqs []Request, statuses []Status) error {
	return pml.WaitAll(ctx, reqs, statuses)
}

// WaitAny waits until one of the requests is complete and returns its place, its
// status and its error. Without a request that is not zero the place is −1.
func WaitAny(ctx context.Context, reqs []Request) (int, Status, error) {
	return pml.WaitAny(ctx, reqs)
}

// WaitSome waits until at least one of the requests is complete and appends the
// outcomes of all that are to out. Without a request that is not zero it adds none.
func WaitSome(ctx context.Context, reqs []Request, out []Outcome) ([]Outcome, error) {
	return pml.WaitSome(ctx, reqs, out)
}

// TestAll reports whether all requests are complete; if so it ends them as
// WaitAll does.
func TestAll(reqs []Request, statuses []Status) (bool, error) {
	return pml.TestAll(reqs, statuses)
}

// TestAny is WaitAny without waiting: done is false if no request is complete.
func TestAny(reqs []Request) (index int, st Status, done bool, err error) {
	return pml.TestAny(reqs)
}

// TestSome is WaitSome without waiting. Where a request is of another world than the
// first, the one outcome that it adds is that request's place with the error.
func TestSome(reqs []Request, out []Outcome) []Outcome { return pml.TestSome(reqs, out) }
