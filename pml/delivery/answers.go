package delivery

import "time"

// answers learns whether the program answers a peer at once. Where it does, the
// acknowledgement that a sender waits for goes with the answer, which saves both
// sides a frame and the system calls for it.
type answers struct {
	since int64 // when an awaited acknowledgement was due after which no frame has left yet; 0: none
	quick int   // times in a row that a frame to the peer followed soon
	need  int   // times in a row before it is relied on; 0: firstNeed
}

const (
	// A frame that leaves within quickReply has followed soon. One that leaves after lateReply
	// has not: by then a tick (see package engine) may have sent the acknowledgement alone.
	quickReply = int64(20 * time.Microsecond)
	lateReply  = int64(150 * time.Microsecond)
	// firstNeed and maxNeed bound how many times in a row a frame has to follow
	// soon before that is relied on. A wrong guess costs the sender a tick, so
	// it doubles the number.
	firstNeed = 4
	maxNeed   = 1024
)

func (r *answers) needed() int { return max(r.need, firstNeed) }

// expected reports whether an acknowledgement may wait for the answer.
func (r *answers) expected() bool { return r.quick >= r.needed() }

// followed notes that a frame to the peer has gone.
func (r *answers) followed(now int64) {
	took := now - r.since
	r.since = 0
	switch {
	case took <= quickReply:
		if r.quick++; r.quick > 16*r.needed() {
			r.quick, r.need = r.needed(), r.need/2
		}
	case took > lateReply && r.expected():
		r.quick, r.need = 0, min(2*r.needed(), maxNeed)
	case took > lateReply || !r.expected():
		r.quick = 0
	}
}
