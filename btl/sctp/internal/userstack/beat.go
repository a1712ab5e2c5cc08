package userstack

import (
	"fmt"
	"syscall"
	"time"
)

// A beat watches whether the peer of an association lives. Pion does not: it repeats
// for ever what is not acknowledged, and does not ask whether an idle peer is there.
type beat struct {
	heard  bool  // something has come since the last look
	since  int64 // the last sign of life, or question
	misses int   // questions without an answer
}

// heard notes a sign of life.
func (a *association) heard() { a.beat.heard = true }

// startBeats looks after the associations from now on, as long as there are any.
func (s *Stack) startBeats() {
	if s.beats == nil {
		s.beats = s.cfg.Loop.After(min(s.cfg.Heartbeat, time.Second), s.lookAround)
	}
}

func (s *Stack) lookAround() {
	s.beats = nil
	now := s.cfg.Loop.Now()
	for _, a := range s.byTag {
		if a.pion != nil {
			a.checkBeat(now)
		}
	}
	if len(s.byTag) > 0 {
		s.startBeats()
	}
}

func (a *association) checkBeat(now int64) {
	b := &a.beat
	if b.heard || b.since == 0 {
		*b = beat{since: now}
		return
	}
	if now-b.since < int64(a.patience()) || a.reason != nil {
		return
	}
	if b.misses >= a.s.cfg.AssocMaxRetrans {
		a.finish(fmt.Errorf("%d questions in a row without an answer: %w", b.misses, syscall.ETIMEDOUT))
		return
	}
	b.since = now
	b.misses++
	// Pion's own heartbeat (v1.11.3) is empty, and goes no further than conn.Write.
	a.s.send(a.so, seal(appendParam(newPacket(a.theirs.tag, chunkHeartbeat, 0), paramHeartbeat, noSum[:])), a)
}

// patience is how long a silence may last before the peer is asked, or asked
// again.
func (a *association) patience() time.Duration {
	c, misses := a.s.cfg, a.beat.misses
	if misses == 0 && a.pion.BufferedAmount() == 0 {
		return c.Heartbeat
	}
	return min(c.RTOInitial<<min(misses, 16), c.RTOMax, c.Heartbeat)
}
