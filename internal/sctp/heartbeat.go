package sctp

import (
	"encoding/binary"
	"time"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A question is a heartbeat. Its answer has the same number, and says which it is the answer to where it was asked several times.
type question struct {
	due    bool
	usual  bool   // it is one of those that go over a path without data
	again  int    // how often it was asked once more
	number uint64 // 0: there is none under way
	first  int64  // when it was sent
	sent   int64  // and when for the last time
	until  int64  // when it is not answered
	size   int    // of its packet; 0: no more than it takes
	kept   bool   // the system had no room for it
}

// sentAt is when it was sent that an answer belongs to; 0: that is not known, as after so many that two have the same bits.
func (q *question) sentAt(which uint64) int64 {
	switch again := uint64(q.again); {
	case again > whichTime:
	case which == 0:
		return q.first
	case which == again:
		return q.sent
	}
	return 0
}

const (
	whichTime    = 0xff // the bits of the number on the wire that say how often it had been asked before
	questionInfo = 8
	questionSize = 4 + 4 + questionInfo // of the chunk
)

// nextBeat is when the next heartbeat is due on a path without data (section 8.3).
func (a *Association) nextBeat(now int64, i int) int64 {
	rto := a.rto(i)
	jitter := int64(a.e.config.Random() % uint64(rto+1))
	return now + int64(a.e.config.Heartbeat) + rto/2 + jitter
}

// rto is how long an answer is waited for that is no acknowledgement. It is not held back. But a peer's process may be late
// with anything, and by how much does not go by the way to it.
func (a *Association) rto(i int) int64 {
	c := &a.e.config
	return int64(min(max(a.sender.Path(i).Timeout(), c.PeerHeld), max(c.RTOMax, time.Millisecond)))
}

// ask makes a heartbeat, and appends it.
func (a *Association) ask(now int64, i int, q *question, b []byte) []byte {
	q.due, q.sent = false, now
	if q.number == 0 {
		q.first = now
		wait := a.rto(i)
		q.until = now + min(wait<<min(a.paths[i].missed, 20), max(int64(a.e.config.RTOMax), wait))
	} else {
		q.again++
	}
	for q.number == 0 {
		q.number = a.e.config.Random() &^ whichTime
	}
	b, start := chunk.Begin(b, chunk.TypeHeartbeat, 0)
	b, field := chunk.BeginField(b, chunk.ParamHeartbeat)
	return chunk.End(chunk.EndField(binary.BigEndian.AppendUint64(b, q.number|uint64(q.again)&whichTime), field), start)
}

// answered takes a HEARTBEAT ACK.
func (a *Association) answered(in *incoming, c chunk.Chunk) {
	fields := chunk.Causes(c)
	f, ok := fields.Next()
	if !ok || f.Code != chunk.ParamHeartbeat || len(f.Value) != questionInfo || a.sender == nil {
		return
	}
	number := binary.BigEndian.Uint64(f.Value)
	which := number & whichTime
	number &^= whichTime
	for i := range a.paths {
		p := &a.paths[i]
		switch {
		case number == 0:
		case p.beat.number == number:
			if sent := p.beat.sentAt(which); sent != 0 {
				a.sender.Path(i).Answered(in.now, min(in.now, p.beat.until)-sent) // if it is later still it has waited for us
			}
			a.sender.Fate(i, int(which), true)
			forgiven := p.beat.usual && p.state == Active
			p.beat, p.missed = question{}, 0
			p.beatAt = a.nextBeat(in.now, i)
			if forgiven {
				a.sender.Path(i).Forgive()
			}
			a.compare(i)
			a.good(in.now, i)
			return
		case p.sound.number == number:
			size := p.sound.size
			p.sound = question{}
			if p.mtu.Passed(size) {
				p.cut = false
				a.sender.Resize(i, p.packet())
			}
			a.good(in.now, i)
			a.sounds(in.now, i)
			return
		case p.moved.number == number:
			a.follow(i)
			return
		}
	}
}

// seek has all other paths asked whether they are good, as an answer over one is late: those that are active as well, or of many that have
// died together one would be tried after another. Where data is under way over one, its probes ask.
func (a *Association) seek(now int64, i int) {
	for j := range a.paths {
		if j != i && (a.paths[j].state != Active || a.sender.Path(j).UnderWay() == 0) {
			a.askAgain(now, j)
		}
	}
}

// came notes that a packet of the peer's has come over a path. Its way here is good, and probably the other one too: acknowledgements
// are to go back there, and not where all is lost, perhaps, of which who sends no data knows nothing.
func (a *Association) came(now int64, i int) {
	if a.paths[i].state != Active {
		a.askAgain(now, i)
	}
}

// askAgain has a heartbeat sent over a path once more, in growing distances. Where they have failed for some time the next one would come
// much later.
func (a *Association) askAgain(now int64, i int) {
	switch p := &a.paths[i]; {
	case p.beat.due:
	case p.beat.number == 0:
		p.beat.due, p.beatAt = true, 0
	case now-p.beat.sent >= min(leastDistance<<min(p.beat.again, 20), a.rto(i)):
		p.beat.due = true
	}
}

// leastDistance is the first between two heartbeats, of which the second is asked for by something that has happened.
const leastDistance = int64(time.Millisecond)
