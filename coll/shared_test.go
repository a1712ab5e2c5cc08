package coll

import (
	"context"
	"fmt"
	"sync"
)

// A square is memory that processes share which are goroutines. What nobody may look at any more is overwritten.
type square struct {
	mu      sync.Mutex
	changed *sync.Cond
	shown   []map[int][]byte    // by each process, by step
	loans   []map[int]bool      // whether that is a loan
	lent    []map[uint64][]byte // by each process, by the address that it gives
	done    []int               // the last step that each is done with
	failed  *error
}

const (
	squareRoom  = 4 << 10
	squareDepth = 3
)

func newSquare(n int, failed *error) *square {
	s := &square{done: make([]int, n), failed: failed}
	s.changed = sync.NewCond(&s.mu)
	for range n {
		s.shown, s.loans, s.lent = append(s.shown, map[int][]byte{}), append(s.loans, map[int]bool{}), append(s.lent, map[uint64][]byte{})
	}
	return s
}

// A stand is one process's view of it.
type stand struct {
	*square
	rank, step int
	crowded    bool
	lends      bool
	place      []byte
	most       int // of this step
}

var _ Commons = (*stand)(nil)

func (s *stand) Room() int     { return squareRoom }
func (s *stand) Crowded() bool { return s.crowded }

func (s *stand) Begin(n int) { s.most = n }

// await waits until all is so. The lock is held.
func (s *stand) await(is func() bool) error {
	for !is() {
		if *s.failed != nil {
			return *s.failed
		}
		s.changed.Wait()
	}
	return nil
}

func (s *stand) Copy(to, from []byte) int { return copy(to, from) }

func (s *stand) Place(_ context.Context, n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.step - squareDepth
	err := s.await(func() bool {
		for rank, done := range s.done {
			if rank != s.rank && done < old {
				return false
			}
		}
		return true
	})
	for i := range s.shown[s.rank][old] {
		s.shown[s.rank][old][i] = 0xee
	}
	delete(s.shown[s.rank], old)
	if n > squareRoom || n > s.most {
		return nil, fmt.Errorf("%d bytes are to be shown, of at most %d", n, s.most)
	}
	s.place = make([]byte, n)
	return s.place, err
}

func (s *stand) Show(lends bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loans[s.rank][s.step] = lends
	s.shown[s.rank][s.step] = s.place
	s.changed.Broadcast()
	return nil
}

func (s *stand) Look(_ context.Context, rank, n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.await(func() bool { return s.shown[rank][s.step] != nil })
	if b := s.shown[rank][s.step]; err == nil && s.loans[rank][s.step] != (n == ALoan) {
		err = fmt.Errorf("process %d lends: %v, %d wants other bytes", rank, s.loans[rank][s.step], s.rank)
	} else if err == nil && len(b) != n && n >= 0 {
		err = fmt.Errorf("process %d shows %d bytes, %d looks for %d", rank, len(b), s.rank, n)
	}
	return s.shown[rank][s.step], err
}

func (s *stand) End(all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rank := range s.done {
		if all && rank != s.rank && s.shown[rank][s.step] == nil {
			return fmt.Errorf("process %d has not looked at what %d shows", s.rank, rank)
		}
	}
	s.done[s.rank] = s.step
	s.step++
	s.changed.Broadcast()
	return nil
}

func (s *stand) Lends() bool { return s.lends }

func (s *stand) Address(b []byte) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := uint64(1+len(s.lent[s.rank])) << 32
	s.lent[s.rank][address] = b
	return address
}

func (s *stand) Read(_ context.Context, rank int, address uint64, to []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, from := s.lent[rank][address>>32<<32], int(uint32(address))
	if from > len(b) || len(to) > len(b)-from {
		return fmt.Errorf("process %d reads %d bytes from %d on of the %d that %d lends", s.rank, len(to), from, len(b), rank)
	}
	copy(to, b[from:])
	return nil
}

// takeBack has nobody read any more what this process has lent: it has returned from the call.
func (s *stand) takeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for address := range s.lent[s.rank] {
		s.lent[s.rank][address] = nil
	}
}

func (s *stand) Misfit(rank, got, due int) error {
	return fmt.Errorf("process %d gives %d bytes, %d wants %d", rank, got, s.rank, due)
}
