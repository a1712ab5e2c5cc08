package tcp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/openfiles"
)

const (
	// mostStrangers bounds the connections that have not proved themselves, and
	// one descriptor in so many of those that the process may have.
	mostStrangers    = 1024
	strangersPerFile = 8
	// When the bound is reached, one that has not even said what it wants makes
	// room for the next after silentTime: a peer says so as soon as it is
	// connected. One whose proof is due has longer.
	silentTime  = 100 * time.Millisecond
	claimedTime = 500 * time.Millisecond
	// A flood gets no more than a small part of the process's time: once there
	// are more strangers than calm, a listener rests after each batch.
	calm      = 64
	floodRest = time.Millisecond
)

// strangers are the connections that others have made to us and that have not
// proved themselves.
type strangers struct {
	most    int
	silent  []*inbound // have not said a whole hello; oldest first
	claimed []*inbound // have said who they want to be; in that order
}

// strangersAllowed is how many strangers a process may bear.
func strangersAllowed() int {
	if limit := openfiles.Limit(); limit > 0 {
		return min(mostStrangers, max(limit/strangersPerFile, 1))
	}
	return mostStrangers
}

func (s *strangers) count() int { return len(s.silent) + len(s.claimed) }

// claims notes that a stranger has said who it wants to be.
func (s *strangers) claims(in *inbound) {
	s.forget(in)
	s.claimed = append(s.claimed, in)
}

// forget takes a connection off the lists.
func (s *strangers) forget(in *inbound) {
	for _, list := range []*[]*inbound{&s.silent, &s.claimed} {
		if i := slices.Index(*list, in); i >= 0 {
			*list = slices.Delete(*list, i, i+1)
		}
	}
}

// dispensable is the stranger that would make room for another, nil if all are
// too new for that.
func (s *strangers) dispensable(now int64) *inbound {
	if len(s.silent) > 0 && now-s.silent[0].since >= int64(silentTime) {
		return s.silent[0]
	}
	if len(s.claimed) > 0 && now-s.claimed[0].since >= int64(claimedTime) {
		return s.claimed[0]
	}
	return nil
}

// hasRoom reports whether one more connection may begin its handshake, be it in
// the place of one that had time enough for its own.
func (s *strangers) hasRoom(now int64) bool {
	return s.count() < s.most || s.dispensable(now) != nil
}

// makeRoom gives the place of another one to a connection that is there.
func (s *strangers) makeRoom(now int64) {
	if s.count() < s.most {
		return
	}
	if in := s.dispensable(now); in != nil {
		in.fail(fmt.Errorf("%w, and %d others wait", errNoProof, s.count()-1))
	}
}

var errNoProof = errors.New("no proof of belonging to this job")

// drop ends all of them.
func (s *strangers) drop() {
	for len(s.silent) > 0 {
		s.silent[0].drop()
	}
	for len(s.claimed) > 0 {
		s.claimed[0].drop()
	}
}
