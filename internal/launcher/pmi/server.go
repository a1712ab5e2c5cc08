package pmi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
)

// What a Server tells its clients: Hydra's values, which every PMI-1 client
// has met.
const (
	nameMax  = 256
	keyMax   = 64
	valueMax = 1024
)

// maxEntries bounds the number of keys, so that a program that puts without
// end meets an error and not the end of memory.
const maxEntries = 1 << 20

// ErrSize: a server of a job without ranks, or with absurdly many.
var ErrSize = fmt.Errorf("pmi: a job has 1 to %d ranks", MaxRanks)

// Events are what a [Server] reports. A call is made on the goroutine that
// serves the rank, before its client gets an answer, and holds up only that
// rank.
type Events interface {
	Initialised(rank int)
	Finalised(rank int)
	Aborted(rank int, a Abort)
}

// An Abort is a rank's wish that the whole job ends.
type Abort struct {
	Code    int
	Message string // why; may be empty
	After   int    // the rank whose failure has led to it, -1 if none did
}

// A Server is a launcher's side: the key-value space and the barrier of one
// job. Serve runs once for each rank, on a goroutine of its own.
type Server struct {
	job    string
	size   int
	events Events

	mu       sync.Mutex
	values   map[string]string
	sessions map[int]*session // by rank
	waiting  []*session       // in the barrier
	left     string           // why no barrier can complete any more, or ""
	dead     []int            // in order
	closed   bool
}

// NewServer makes a server for a job of size ranks that all run on this host.
func NewServer(job string, size int, events Events) (*Server, error) {
	if size < 1 || size > MaxRanks {
		return nil, fmt.Errorf("%w: not %d", ErrSize, size)
	}
	if job == "" || !plain(job) || len(job) >= nameMax {
		return nil, fmt.Errorf("pmi: job name %s: want 1 to %d bytes without blanks", quote(job), nameMax-1)
	}
	return &Server{
		job: job, size: size, events: events,
		values:   map[string]string{MappingKey: mapping(make([]int, size))},
		sessions: make(map[int]*session),
	}, nil
}

// Serve answers one rank. It returns nil when the rank has said goodbye or the connection has
// ended, and an error when the rank breaks the protocol. It owns conn and closes it.
func (s *Server) Serve(rank int, conn net.Conn) error {
	c := &session{server: s, rank: rank, conn: conn, lines: lineReader{from: conn}}
	if err := s.enter(c); err != nil {
		return errors.Join(err, conn.Close())
	}
	err := c.serve()
	s.leave(c)
	_ = conn.Close()
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return nil // a rank that was killed may leave half a line, or answers unread
		}
	}
	return err
}

// Close ends all conversations.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.sessions {
		_ = c.conn.Close() // its Serve sees to the rest
	}
}

// Meeting returns the ranks that wait in the barrier and those that they wait for, each in order.
func (s *Server) Meeting() (come, missing []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil, nil
	}
	there := make([]bool, s.size)
	for _, c := range s.waiting {
		there[c.rank] = true
	}
	for rank, is := range there {
		if is {
			come = append(come, rank)
		} else {
			missing = append(missing, rank)
		}
	}
	return come, missing
}

// MarkDead notes that a rank has failed. A barrier that waits for it, and any
// later one, fails; the key DeadKey names it from now on.
func (s *Server) MarkDead(rank int) {
	s.mu.Lock()
	if at, found := slices.BinarySearch(s.dead, rank); !found {
		s.dead = slices.Insert(s.dead, at, rank)
	}
	released := s.noMoreBarriers(fmt.Sprintf("rank_%d_has_failed", rank))
	s.mu.Unlock()
	failBarrier(released, s.reasonLeft())
}

func (s *Server) enter(c *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	if c.rank < 0 || c.rank >= s.size {
		return fmt.Errorf("pmi: rank %d in a job of %d", c.rank, s.size)
	}
	if s.sessions[c.rank] != nil {
		return fmt.Errorf("pmi: rank %d is connected already", c.rank)
	}
	s.sessions[c.rank] = c
	return nil
}

func (s *Server) leave(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c.rank)
	s.waiting = slices.DeleteFunc(s.waiting, func(w *session) bool { return w == c })
}

// noMoreBarriers notes why no barrier can complete any more, and returns the ranks that wait in
// one.
func (s *Server) noMoreBarriers(reason string) []*session {
	if s.left == "" {
		s.left = reason
	}
	released := s.waiting
	s.waiting = nil
	return released
}

func (s *Server) reasonLeft() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// barrier counts a rank in. It returns the ranks to let out and, if the barrier failed, why.
func (s *Server) barrier(c *session) (out []*session, failure string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != "" {
		return []*session{c}, s.left, nil
	}
	if slices.Contains(s.waiting, c) {
		return nil, "", errors.New("pmi: cmd=barrier_in from a rank that is in the barrier already")
	}
	s.waiting = append(s.waiting, c)
	if len(s.waiting) < s.size {
		return nil, "", nil
	}
	out, s.waiting = s.waiting, nil
	return out, "", nil
}

// finalise notes that a rank has left in good order. It returns the ranks that wait in a
// barrier: they would wait for this one for ever.
func (s *Server) finalise(rank int) (stranded []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noMoreBarriers(fmt.Sprintf("rank_%d_has_left_the_job", rank))
}

func (s *Server) put(key, value string) (refusal string) {
	if key == "" || len(key) >= keyMax {
		return "key_empty_or_too_long"
	}
	if len(value) >= valueMax {
		return "value_too_long"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.values[key]; !known && len(s.values) >= maxEntries {
		return "too_many_keys"
	}
	s.values[key] = value
	return ""
}

func (s *Server) get(key string) (value string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == DeadKey {
		return formatRanks(s.dead), len(s.dead) > 0
	}
	value, found = s.values[key]
	return value, found
}
