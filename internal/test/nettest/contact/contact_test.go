//go:build linux

package contact_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// speakerVariable names the rank that sends, in contact.
const speakerVariable = "CONTACT_SPEAKER"

// anyVariable has the other one receive from any source, in contact.
const anyVariable = "CONTACT_ANY"

// contact has one of the first two ranks send the other messages, short and long, and
// only then hear from it. Both tell how long the first message took, and at the end
// what each rail has carried. Further ranks say nothing to either until then.
func contact(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	speaker, err := strconv.Atoi(os.Getenv(speakerVariable))
	if err != nil {
		return err
	}
	source := speaker
	if os.Getenv(anyVariable) != "" {
		source = strand.AnySource
	}
	if c.Rank() > 1 {
		return c.Barrier(ctx)
	}
	start := time.Now()
	for i, size := range []int{8, 8, 4 << 20, 8, 4 << 20} {
		b := make([]byte, size)
		if c.Rank() == speaker {
			err = c.Send(ctx, traffic.Payload(speaker, 0, i, size), 1-speaker, i)
		} else if _, err = c.Recv(ctx, b, source, i); err == nil && string(b) != string(traffic.Payload(speaker, 0, i, size)) {
			err = fmt.Errorf("message %d is damaged", i)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if i == 1 {
			fmt.Println("contact after:", time.Since(start))
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	for _, r := range w.Rails() {
		fmt.Printf("rail: %s, %d MB out, %d MB in\n", r.Desc, r.Counters.BytesSent>>20, r.Counters.BytesReceived>>20)
	}
	return nil
}

// requireContact runs contact, with each rank as the speaker. It expects that contact takes
// much less than an attempt to connect may take, and that all traffic went by the network whose
// addresses begin with good.
func requireContact(t *testing.T, a, b *testnet.Host, good string, env ...string) {
	t.Helper()
	requireContactOf(t, nettest.Play("contact", []*testnet.Host{a, b}, env...), good)
}

func requireContactOf(t *testing.T, job nettest.Job, good string) {
	t.Helper()
	env := append(slices.Clip(job.Env), fmt.Sprintf("STRAND_BTL_TCP_CONNECT_TIMEOUT=%v", connectTimeout))
	for speaker := range 2 {
		job.Env = append(slices.Clip(env), fmt.Sprintf("%s=%d", speakerVariable, speaker))
		r := job.Run(t)
		require.NoError(t, r.Wait())
		for rank := range 2 {
			after, err := time.ParseDuration(strings.TrimPrefix(r.Await(rank, "contact after: ").Text, "contact after: "))
			require.NoError(t, err)
			t.Logf("rank %d speaks, rank %d: contact after %v", speaker, rank, after)
			assert.Less(t, after, soonContact)
			requireCarried(t, r, rank, good)
		}
	}
}

// requireCarried expects that the rails that have carried anything are of a network.
func requireCarried(t *testing.T, r *nettest.Run, rank int, network string) {
	t.Helper()
	carried := 0
	for _, line := range r.Lines(rank) {
		if !strings.HasPrefix(line.Text, "rail: ") || strings.HasSuffix(line.Text, ", 0 MB out, 0 MB in") {
			continue
		}
		assert.Contains(t, line.Text, network)
		carried++
	}
	assert.Positive(t, carried)
}

// connectTimeout is how long an attempt to connect may take, and soonContact bounds a contact
// that has not waited for the end of an attempt. They are so far apart that a machine that was
// away for a while is not taken for such a wait.
const (
	connectTimeout = 60 * time.Second
	soonContact    = 5 * time.Second
)

// Both hosts have an interface to a management network that looks joined but is not;
// its addresses come before those of the good network.
func TestManagementNetwork(t *testing.T) {
	t.Parallel()
	const good = "10.1.0."
	for name, add := range map[string]func(n *testnet.Net, a, b *testnet.Host){
		"nobody answers": func(_ *testnet.Net, a, b *testnet.Host) {
			a.Island("mgmt", "10.0.0.1/24")
			b.Island("mgmt", "10.0.0.2/24")
		},
		"packets vanish": func(n *testnet.Net, a, b *testnet.Host) {
			n.Link(a, b, testnet.Subnet("10.0.0.0/24"), testnet.Names("mgmt", "mgmt")).Loss(1)
		},
		"another host answers": func(n *testnet.Net, a, b *testnet.Host) {
			n.Link(a, n.Host("c"), testnet.Subnet("10.0.0.0/24"), testnet.Names("mgmt", "eth0"))
			n.Link(n.Host("d"), b, testnet.Subnet("10.0.0.0/24"), testnet.Names("eth0", "mgmt"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := nettest.Hosts(t)
			add(n, a, b)
			n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			requireContact(t, a, b, good)
		})
	}
}

// Only one of two hosts can connect to the other, whichever speaks first.
func TestOneWay(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]int{"only the lower rank connects": 0, "only the higher rank connects": 1} {
		for which, job := range map[string]func(a, b, hearing *testnet.Host) nettest.Job{
			"": func(a, b, _ *testnet.Host) nettest.Job { return nettest.Play("contact", []*testnet.Host{a, b}) },
			// A rank that receives from any source makes no contact by itself if there may be
			// several senders. So it is asked to, through the launcher.
			", and is asked to": func(a, b, hearing *testnet.Host) nettest.Job {
				return nettest.Play("contact", []*testnet.Host{a, b, hearing}, anyVariable+"=1")
			},
			// Without such a launcher it does make contact if there is only one.
			", and is not told to": func(a, b, _ *testnet.Host) nettest.Job {
				return nettest.Play("contact", []*testnet.Host{a, b}, anyVariable+"=1").Untold()
			},
		} {
			t.Run(name+which, func(t *testing.T) {
				t.Parallel()
				n, a, b := nettest.Hosts(t)
				n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
				ends := []*testnet.Host{a, b}
				ends[deaf].Firewall(1, 65535)
				requireContactOf(t, job(a, b, ends[1-deaf]), "10.1.0.")
			})
		}
	}
}

// If a rank can not connect, and no launcher passes its call on, its error says so.
func TestOneWayWithoutALauncherThatCalls(t *testing.T) {
	t.Parallel()
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	b.Firewall(1, 65535)
	err := nettest.Play("contact", []*testnet.Host{a, b, a}, speakerVariable+"=0", anyVariable+"=1", "STRAND_BTL_TCP_CONNECT_TIMEOUT=200ms").Untold().Run(t).Wait()
	require.ErrorContains(t, err, "rank 1 on b has failed")
	require.ErrorContains(t, err, "nor could it be asked to connect to this process")
	require.ErrorContains(t, err, "no answer in 200ms")
}
