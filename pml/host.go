package pml

import (
	"crypto/rand"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/selection"
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

// Accept implements [btl.Host].
func (h *host) Accept(m btl.Module, rank int, b []byte, path int, ep btl.Endpoint) (btl.Receiver, error) {
	p := h.pml
	if rank < 0 || rank >= p.job.Size() {
		return nil, fmt.Errorf("%w: %d is not in 0 to %d", ErrRank, rank, p.job.Size()-1)
	}
	pe := p.peerOf(rank)
	if pe.failure != nil {
		return nil, fmt.Errorf("rank %d was declared failed: %w", rank, pe.failure)
	}
	his, err := decodeHello(b)
	if err != nil {
		return nil, err
	}
	attr := m.Attr()
	r := &rail{pml: p, peer: pe, module: m, attr: attr, weight: 1, busy: true,
		path: btl.Path{Index: path, Bandwidth: attr.Bandwidth, Latency: attr.Latency, Desc: ep.Desc()}}
	r.setEndpoint(ep)
	choice := pe.choice
	choice.Rails = append(choice.Rails, selection.Rail{Module: m, Attr: attr, Path: r.path,
		Bandwidth: attr.Bandwidth, Latency: attr.Latency, Weight: 1})
	choice.Reasons = append(choice.Reasons, fmt.Sprintf("%s: rank %d has connected to us", attr.Name, rank))
	pe.attach(his.host, choice, append(pe.rails, r))
	pe.openCredit()
	return r, nil
}
