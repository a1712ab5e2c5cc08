package pml

import (
	"crypto/rand"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/param"
)

// secretSize is the length of a job's secret in bytes.
const secretSize = 32

func newSecret() []byte {
	b := make([]byte, secretSize)
	rand.Read(b) // it never fails (crypto/rand)
	return b
}

// host is what modules see of the process.
type host struct {
	pml    *PML
	params *param.Values
	secret []byte
	hello  []byte
	// keys are this process's own, identity proves that it is of the job.
	keys     *handshake.KeyPair
	identity *handshake.Identity
}

var _ btl.Host = (*host)(nil)

func (h *host) Rank() int             { return h.pml.rank }
func (h *host) Size() int             { return h.pml.job.Size() }
func (h *host) Hostname() string      { return h.pml.job.Hostname() }
func (h *host) Job() string           { return h.pml.job.Name() }
func (h *host) Secret() []byte        { return h.secret }
func (h *host) Params() *param.Values { return h.params }
func (h *host) Loop() btl.Loop        { return h.pml.engine }
func (h *host) Hello() []byte         { return h.hello }

func (h *host) Logf(level btl.LogLevel, format string, args ...any) {
	if h.pml.log != nil {
		h.pml.log(level, fmt.Sprintf(format, args...))
	}
}
