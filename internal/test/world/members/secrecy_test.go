package members_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
)

// lines are those that are told to people.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_ btl.LogLevel, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// Who wants TCP to encrypt does not get a transport that sends in the clear, though btl names it:
// not beside it, not in its place, and not without being told.
func TestNothingGoesInTheClear(t *testing.T) {
	var said lines
	worlds := world.Open(t, 2, strand.WithParam("btl", "self,tcp,sctp"), strand.WithParam("btl_sctp_stack", "user"),
		strand.WithParam("btl_tcp_encrypt", "true"), strand.WithLog(said.add))
	request, err := worlds[1].Comm().Irecv(make([]byte, 10), 0, 0)
	require.NoError(t, err)
	require.NoError(t, worlds[0].Comm().Send(world.Context(t), []byte("secret"), 1, 0))
	_, err = request.Wait(world.Context(t))
	require.NoError(t, err)
	const refused = "it sends in the clear, and btl_tcp_encrypt=true"
	for rank, w := range worlds {
		require.Contains(t, strings.Join(w.Reasons()[1-rank], "\n"), refused)
		for _, r := range w.Rails() {
			assert.NotContains(t, r.Component, "sctp")
		}
	}
	assert.Contains(t, said.text(), refused)
	assert.Contains(t, said.text(), "leave it out of the parameter btl")
}

// Where one rank encrypts and the other does not, both find out: the error names both, what each
// has and what to do, and nobody waits for ever. No other transport carries it in the clear.
func TestRanksDisagreeOnEncryption(t *testing.T) {
	for _, of := range []struct{ transports, parameter, first, second string }{
		{"self,tcp", "btl_tcp_encrypt", "true", "false"}, {"self,tcp,sctp", "btl_tcp_encrypt", "true", "false"},
		{"self,udp", "btl_udp_protect", "encrypted", "none"}, {"self,udp", "btl_udp_protect", "authenticated", "encrypted"},
	} {
		for _, sender := range []int{0, 1} {
			leak.Check(t)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for rank, j := range world.ToldJobs(2) {
				wg.Go(func() {
					errs[rank] = strand.Run(world.Context(t), func(ctx context.Context, w *strand.World) error {
						if rank == sender {
							return w.Comm().Send(ctx, []byte("secret"), 1-rank, 0)
						}
						_, err := w.Comm().Recv(ctx, make([]byte, 10), sender, 0)
						return err
					}, strand.WithJob(j), strand.WithParam("btl", of.transports), strand.WithParam("btl_sctp_stack", "user"),
						strand.WithParam(of.parameter, []string{of.first, of.second}[rank]))
				})
			}
			wg.Wait()
			require.Error(t, errs[0])
			require.Error(t, errs[1])
			for _, want := range []string{"rank 0 on localhost has " + of.parameter + "=" + of.first, "rank 1 on localhost has " + of.parameter + "=" + of.second, "all ranks must have the same"} {
				assert.ErrorContains(t, errs[sender], want)
			}
		}
	}
}
