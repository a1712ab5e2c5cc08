package recovery

import "time"

// mostLate is how late the caller may be with what is due. Who is later was stopped, or had no processor.
const mostLate = int64(100 * time.Millisecond)

// awake finds out whether the caller was stopped for some time. What has arrived meanwhile has waited for it, and no probe was
// sent. So that time does not count for what is under way: answers would seem to have taken as long, and what is sent from then on would
// be spread over such a round trip, and called lost after one.
func (p *Path[T]) awake(now int64) {
	if now-p.sentAt <= mostLate {
		return // as nearly always
	}
	at := p.At()
	if at == 0 || now-at <= mostLate {
		return
	}
	by := now - at
	f := &p.flight
	for n := f.undecided; n < f.next; n++ {
		if packet := f.at(n); packet.fate == underWay {
			packet.sent += by
		}
	}
	p.sentAt += by
	p.waitAt += by
	if p.lossAt != 0 {
		p.lossAt += by
	}
}
