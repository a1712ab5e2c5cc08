package lines

import (
	"bytes"
	"strings"
	"sync"
)

// A Beginning keeps the first bytes that are written to it, up to a bound, and drops the rest
// without an error. So a writer that says more than anybody reads is not held up. Its methods
// are safe for any number of goroutines.
type Beginning struct {
	most int
	mu   sync.Mutex
	kept bytes.Buffer
}

// NewBeginning returns one that keeps at most so many bytes.
func NewBeginning(most int) *Beginning { return &Beginning{most: most} }

// Write implements [io.Writer].
func (b *Beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(len(p), b.most-b.kept.Len())]) // never fails
	return len(p), nil
}

// Bytes returns a copy of what was kept.
func (b *Beginning) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.kept.Bytes())
}

// String returns what was kept as valid UTF-8, without the space around it.
func (b *Beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(b.kept.String()), "\ufffd")
}

// Full reports whether there may have been more.
func (b *Beginning) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.Len() == b.most
}
