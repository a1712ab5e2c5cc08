package strand

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	"github.com/strandmp/strand/pml"
)

// The calls below take several requests of one world. A request of another world is an error,
// and then no request ends. The calls pass over zero Requests, and put the zero Request in the
// place of each one that they end. Their cost grows with the number of requests, not with the
// time that they wait.

// WaitAll waits until all requests are complete, and ends them. Statuses is nil, or has the
// length of reqs and gets the status of each.
//
// If requests have failed, the error is a [*WaitError] that has their places and their
// errors. The others have succeeded, and their statuses are there. With any other error, as
// the context's, no request has ended.
func WaitAll(ctx context.Context, reqs []Request, statuses []Status) error {
	failed, err := pml.WaitAll(ctx, inner(reqs), as[pml.Status](statuses))
	if err != nil {
		return err
	}
	return waitError(failed, len(reqs))
}

// WaitAny waits until one of the requests is complete, ends it, and returns its place and
// its outcome. The place is −1 if all requests are zero, and if the context ends first.
func WaitAny(ctx context.Context, reqs []Request) (index int, st Status, err error) {
	i, s, err := pml.WaitAny(ctx, inner(reqs))
	return i, Status(s), own(err)
}

// WaitSome waits until at least one of the requests is complete, ends all that are, and
// appends their outcomes to out, in the order of their places. It appends none if all
// requests are zero. An error of a request is in its outcome; the one returned is about the
// call, as the context's, and then no request has ended.
func WaitSome(ctx context.Context, reqs []Request, out []Outcome) ([]Outcome, error) {
	all, err := pml.WaitSome(ctx, inner(reqs), as[pml.Outcome](out))
	return outcomes(all, len(out)), err
}

// TestAll makes progress once and reports whether all requests are complete. If they are, it
// ends them as [WaitAll] does; otherwise it ends none.
func TestAll(reqs []Request, statuses []Status) (done bool, err error) {
	failed, done, err := pml.TestAll(inner(reqs), as[pml.Status](statuses))
	if err != nil {
		return done, err
	}
	return done, waitError(failed, len(reqs))
}

// TestAny makes progress once. If one of the requests is complete, TestAny ends it as
// [WaitAny] does, and done is true. Done is also true, and the place −1, if all requests are
// zero (MPI 4.1, section 3.7.5).
func TestAny(reqs []Request) (index int, st Status, done bool, err error) {
	i, s, done, err := pml.TestAny(inner(reqs))
	return i, Status(s), done, own(err)
}

// TestSome makes progress once, ends the requests that are complete, and appends their
// outcomes to out as [WaitSome] does. It appends none if none is complete.
func TestSome(reqs []Request, out []Outcome) ([]Outcome, error) {
	all, err := pml.TestSome(inner(reqs), as[pml.Outcome](out))
	return outcomes(all, len(out)), err
}

// A WaitError says which of the requests given to [WaitAll] or [TestAll] have failed. All
// requests have ended, and those that are not named have succeeded. [errors.Is] and
// [errors.As] find the errors of the requests.
type WaitError struct {
	// Failed has the outcomes of the requests that have failed, in the order of their places.
	Failed []Outcome
	// Of is the number of requests that were waited for.
	Of int
}

// shownFailures is how many failed requests the text of a WaitError names.
const shownFailures = 3

// Error names the first failed requests, and the number of the others.
func (e *WaitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d requests failed", len(e.Failed), e.Of)
	separator := ": "
	for i, o := range e.Failed {
		if i == shownFailures {
			fmt.Fprintf(&b, "; and %d more", len(e.Failed)-i)
			break
		}
		fmt.Fprintf(&b, "%srequest %d: %v", separator, o.Index, o.Err)
		separator = "; "
	}
	return b.String()
}

// Unwrap returns the errors of the requests.
func (e *WaitError) Unwrap() []error {
	errs := make([]error, len(e.Failed))
	for i, o := range e.Failed {
		errs[i] = o.Err
	}
	return errs
}

// waitError returns the error for the requests that have failed, or nil if there are none.
func waitError(failed []pml.Outcome, of int) error {
	if len(failed) == 0 {
		return nil
	}
	return &WaitError{Failed: outcomes(failed, 0), Of: of}
}

// outcomes returns the message layer's outcomes as this package's. Those before the place from
// have been converted already.
func outcomes(all []pml.Outcome, from int) []Outcome {
	out := as[Outcome](all)
	for i := from; i < len(out); i++ {
		out[i].Err = own(out[i].Err)
	}
	return out
}

// inner returns the message layer's requests that requests consist of.
func inner(reqs []Request) []pml.Request { return as[pml.Request](reqs) }

// as returns the memory of a slice as one of another type with the same layout, so that
// nothing is copied at the border to the message layer. Request, Status and Outcome have the
// layout of the message layer's types of these names; TestLayout holds that.
func as[To, From any](s []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), cap(s))[:len(s)]
}
