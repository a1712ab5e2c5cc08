package commons

import (
	"fmt"
	"os"

	"github.com/strandmp/strand/internal/borrowing"
)

// lending is what a rank needs to read what others lend: bytes that stay in the memory of their own processes.
type lending struct {
	mark    borrowing.Mark
	readers []borrowing.Reader // of the other ranks; none if not all can read what all lend
}

// The words by which a rank says where its own memory is.
const (
	lenderProcess = iota * wordSize
	lenderMark
	lenderAddress // of the mark; 0: it lends nothing
)

// maxRead is how many bytes one call reads.
const maxRead = 1 << 20

func (m *Memory) lender(rank int) int { return lenders(m.ranks) + rank*lenderSize }

// OfferLoans says that the others may read this process's own memory. They may try when all have said so.
func (m *Memory) OfferLoans() {
	m.lending.mark = borrowing.NewMark()
	at := m.lender(m.own)
	m.word(at + lenderProcess).Store(uint64(os.Getpid()))
	m.word(at + lenderMark).Store(m.lending.mark.Value())
	m.word(at + lenderAddress).Store(m.lending.mark.Address())
}

// TryLoans returns why this process can not read the memory of all others.
func (m *Memory) TryLoans() error {
	readers := make([]borrowing.Reader, m.ranks)
	for rank := range readers {
		if rank == m.own {
			continue
		}
		at := m.lender(rank)
		address := m.word(at + lenderAddress).Load()
		if address == 0 {
			return fmt.Errorf("rank %d does not let others read its memory", rank)
		}
		readers[rank] = borrowing.Of(int(m.word(at + lenderProcess).Load()))
		if err := readers[rank].Try(address, m.word(at+lenderMark).Load()); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	m.lending.readers = readers
	return nil
}

// RefuseLoans says that another rank can not read them.
func (m *Memory) RefuseLoans() { m.lending.readers = nil }

// Lends reports whether ranks can read each other's own memory.
func (m *Memory) Lends() bool { return m.lending.readers != nil }

// Address is where others find bytes of this process.
func (m *Memory) Address(b []byte) uint64 { return borrowing.Address(b) }

// Read reads bytes of another rank's process.
func (m *Memory) Read(rank int, address uint64, to []byte) error {
	r := &m.lending.readers[rank]
	for len(to) > maxRead {
		if err := r.Read(to[:maxRead], address, false); err != nil {
			return err
		}
		to, address = to[maxRead:], address+maxRead
	}
	return r.Read(to, address, true)
}
