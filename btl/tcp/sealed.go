package tcp

import (
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl/tcp/internal/record"
	"github.com/strandmp/strand/wireup"
)

// A sealed is what stands between the frames of an encrypted connection and its socket
// (btl_tcp_encrypt). The stream of frames is the same as without encryption, but it travels in
// records. A frame counts as sent once it is in records: its memory is not needed any more.
type sealed struct {
	out     *record.Writer
	in      *record.Reader
	lender  *lender
	reading bool // up-calls may refer to the buffer of in
}

// The bytes that the transport adds to a greeting.
const (
	ownSize    = 2
	ownSealed  = 0 // index of the byte that is 1 if records follow, else 0
	mostSealed = 1 // the highest value of that byte
)

func (c *config) own() []byte {
	own := make([]byte, ownSize)
	if c.encrypt {
		own[ownSealed] = 1
	}
	return own
}

func checkOwn(own []byte) error {
	if own[ownSealed] > mostSealed || own[1] != 0 {
		return fmt.Errorf("reserved bytes % x", own)
	}
	return nil
}

// agrees refuses a peer that does not encrypt if we do, or encrypts if we do not. The handshake's
// proof covers the greeting, so nobody on the way can talk the two out of encryption.
func (m *module) agrees(rank int, g wireup.Greeting) error {
	if theirs := g.Own[ownSealed] != 0; theirs != m.cfg.encrypt {
		return fmt.Errorf("rank %d on %s has %s=%t and rank %d on %s has %s: all ranks must have the same",
			rank, g.Host, pEncrypt, theirs, m.Host.Rank(), m.Host.Hostname(), m.cfg.encryptSetting)
	}
	return nil
}

// Labels of the keys of the two directions.
const (
	labelConnector = "tcp records of who has connected"
	labelAcceptor  = "tcp records of who was connected to"
)

// seal begins the records of a connection; it returns nil if the connection has none. First is
// the last message of the handshake. It goes out before the records, in the clear.
func (ep *endpoint) seal(first []byte) (*sealed, error) {
	m := ep.m
	if !m.cfg.encrypt {
		return nil, nil
	}
	ours, theirs := labelConnector, labelAcceptor
	if !ep.Opened() {
		ours, theirs = theirs, ours
	}
	outKey, err := ep.Key(ours)
	if err != nil {
		return nil, err
	}
	inKey, err := ep.Key(theirs)
	if err != nil {
		return nil, err
	}
	s := &sealed{lender: &m.buffers}
	if s.out, err = record.NewWriter(outKey, m.cfg.renewal); err != nil {
		return nil, err
	}
	if s.in, err = record.NewReader(inKey, m.cfg.renewal); err != nil {
		return nil, err
	}
	if len(first) > 0 {
		s.out.Lend(s.lender.out.take())
		s.out.Clear(first)
	}
	return s, nil
}

// waiting counts the bytes of records that the system has no room for.
func (s *sealed) waiting() int {
	if s == nil {
		return 0
	}
	return len(s.out.Waiting())
}

// rest gives the buffers back. If an up-call may still refer to what was read, receiveSealed gives
// that buffer back later.
func (s *sealed) rest() {
	if s == nil {
		return
	}
	s.lender.back(s.out.Return())
	if !s.reading {
		s.lender.back(s.in.Return())
	}
}

// pushSealed is push for an encrypted connection.
func (ep *endpoint) pushSealed() bool {
	w := ep.sealed.out
	for {
		if len(w.Waiting()) == 0 {
			if err := ep.fillRecords(); err != nil {
				ep.broken(err)
				return false
			}
		}
		b := w.Waiting()
		if len(b) == 0 {
			ep.sealed.lender.back(w.Return())
			return true
		}
		n, errno := ep.conn.Send(b)
		ep.counters.SendCalls++
		if errno != 0 && errno != syscall.EAGAIN {
			ep.broken(errno)
			return false
		}
		if w.Sent(n); n < len(b) {
			ep.block()
			return true
		}
	}
}

// fillRecords puts what waits into records, as far as the buffer has room.
func (ep *endpoint) fillRecords() error {
	s, w := &ep.sender, ep.sealed.out
	for !s.drained() {
		if w.Full() {
			break
		}
		if !w.Lent() {
			w.Lend(ep.sealed.lender.out.take())
		}
		n, err := ep.addWaiting(w)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		s.sent(n)
	}
	return w.Finish()
}

// addWaiting adds as much of what waits as can be gathered at once, and returns its bytes.
func (ep *endpoint) addWaiting(w *record.Writer) (n int, err error) {
	v := &ep.m.vector
	ep.sender.gather(v)
	defer v.Reset()
	for i := range v.Len() {
		p := v.Piece(i)
		k, err := w.Add(p)
		if n += k; err != nil || k < len(p) {
			return n, err
		}
	}
	return n, nil
}

// remainder is what is still to be sent when the endpoint lets go of its connection. It ends with
// a goodbye.
func (ep *endpoint) remainder() []byte {
	rest := ep.sender.remainder()
	if ep.sealed == nil {
		return rest
	}
	b, err := ep.sealed.out.Last(rest)
	if err != nil {
		return nil // the peer misses the goodbye
	}
	return b
}

// receiveSealed is receive for an encrypted connection.
func (ep *endpoint) receiveSealed() bool {
	s := ep.sealed
	s.reading = true
	did := ep.readSealed()
	s.reading = false
	if s.in.Empty() || !ep.Live() {
		s.lender.back(s.in.Return())
	}
	return did
}

func (ep *endpoint) readSealed() bool {
	in, did := ep.sealed.in, false
	for budget := readBudget; budget > 0 && ep.Live(); {
		if !in.Lent() {
			in.Lend(ep.sealed.lender.in.take())
		}
		b := in.Room()
		n, errno := ep.conn.Recv(b)
		ep.counters.ReceiveCalls++
		if n <= 0 {
			return ep.nothing(errno) || did
		}
		did = true
		budget -= n
		in.Took(n)
		ep.open()
		if n < len(b) {
			return true // that was all there is
		}
	}
	return did
}

// open hands over what is in the records that have come whole. They are decrypted in the read
// buffer, and copied to their place only once they are verified: the same bytes may also come
// over another connection, to the same place, and nothing unverified must ever stand there.
func (ep *endpoint) open() {
	for ep.Live() {
		b, err := ep.sealed.in.Next()
		if err != nil {
			ep.damaged(err)
			return
		}
		if b == nil {
			return
		}
		ep.counters.BytesReceived += uint64(len(b))
		if err := ep.scanner.Feed(b); err != nil {
			ep.Malformed(err)
			return
		}
	}
}

// damaged ends the connection because of a record that is not what the peer has sent.
func (ep *endpoint) damaged(err error) {
	e := ep.Error("receiving", err)
	e.Remedy = "something between the hosts changes what they send, or somebody does; no byte of it was delivered"
	ep.Down(e)
}
