//go:build linux

package failures_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	launcher "github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/testnet"
)

// pairs of a job of depend: all but the last are across two hosts and meet with a
// failure.
var pairs = need.Daily(4, 11)

// silenceAfter is pml_peer_timeout in the long form of these tests.
const silenceAfter = 3 * time.Second

// promptly is within how long one is told where silence is not what tells him. A refusal is believed after
// 2.4 to 2.9 s; the rest is for waiting for a processor.
var promptly = silenceAfter * time.Duration(need.Times(3, 1))

// A calamity is many jobs, in each of which ranks fail in one way.
type calamity struct {
	told  bool   // by the launcher
	cause string // that is named
	soon  bool   // before pml_peer_timeout
	// strike makes at least one of each pair fail, and returns the ranks of those.
	strike func(*trials.Trial, *nettest.Run, *testnet.Link) (victims []int)
	memory bool // all ranks are on one host, where they share memory
	sealed bool // the connections are encrypted
	udp    bool // they are by UDP
	lives  bool // the victims do, and go on
	stops  bool // they live, but do not go on
}

func (c calamity) survives(rank int, victims []int) bool {
	return c.lives || !slices.Contains(victims, rank)
}

// kills reports whether the victims end.
func (c calamity) kills() bool { return !c.lives && !c.stops }

// mend ends what was only stopped, and what was cut off.
func (c calamity) mend(r *nettest.Run, link *testnet.Link, victims []int) {
	link.Loss(0)
	for _, victim := range victims {
		if c.stops && r.Status(victim) == "" {
			r.Signal(victim, syscall.SIGKILL)
		}
	}
}

// signalled sends a signal to either of each pair.
func signalled(signal syscall.Signal) func(*trials.Trial, *nettest.Run, *testnet.Link) []int {
	return func(tr *trials.Trial, r *nettest.Run, _ *testnet.Link) (victims []int) {
		for pair := range pairs - 1 {
			victim := 2*pair + tr.Random.IntN(2)
			r.Signal(victim, signal)
			victims = append(victims, victim)
		}
		return victims
	}
}

func cutOff(_ *trials.Trial, _ *nettest.Run, l *testnet.Link) (victims []int) {
	l.Loss(1)
	for rank := range 2 * (pairs - 1) {
		victims = append(victims, rank)
	}
	return victims
}

// Whoever depends on a rank that is killed gets an error that names it, its host and the
// cause, and everything between the others goes on; the launcher names one that was killed.
func TestTrialsOfKilling(t *testing.T) {
	kill := signalled(syscall.SIGKILL)
	for name, k := range map[string]trials.Trials{
		"told":   calamity{told: true, cause: "SIGKILL", soon: true, strike: kill}.trials(1),
		"untold": calamity{soon: true, strike: kill}.trials(need.Daily(1, 2)),
		"memory": calamity{soon: true, strike: kill, memory: true}.trials(need.Daily(1, 2)),
		"sealed": calamity{soon: true, strike: kill, sealed: true}.trials(1),
		"udp":    calamity{told: true, cause: "SIGKILL", soon: true, strike: kill, udp: true}.trials(1),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "sealed" && !need.Soaking() {
				need.CI(t, "it differs from the others by what is on the wire alone")
			}
			if !need.Soaking() { // of the long form the times count
				t.Parallel()
			}
			k.Try(t)
		})
	}
}

// So does whoever depends on one that gives no sign of life for too long.
func TestTrialsOfSilence(t *testing.T) {
	const cause = "no sign of life"
	for name, c := range map[string]calamity{
		"stopped":         {told: true, cause: cause, strike: signalled(syscall.SIGSTOP), stops: true},
		"stopped, memory": {told: true, cause: cause, strike: signalled(syscall.SIGSTOP), stops: true, memory: true},
		"cut off":         {told: true, cause: cause, strike: cutOff, lives: true},
		"stopped, udp":    {told: true, cause: cause, strike: signalled(syscall.SIGSTOP), stops: true, udp: true},
		"cut off, udp":    {told: true, cause: cause, strike: cutOff, lives: true, udp: true},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "stopped" && name != "cut off, udp" && !need.Soaking() {
				need.CI(t, "who waits for a sign of life is busy until it has waited for long enough")
			}
			t.Parallel() // with each other, and no more: whoever waits for a processor is silent too
			c.trials(1).Try(t)
		})
	}
}

// trials has so many runs in the short form.
func (c calamity) trials(short int) trials.Trials {
	each := pairs - 1
	if c.lives {
		each *= 2 // both of a pair miss the other
	}
	return trials.Trials{Short: short, Each: each, Beside: need.Times(2, 1), Took: "from a rank's failure to the word of it at one that depends on it", Run: c.fair}
}

// patience is pml_peer_timeout in a trial, after which a silent rank has failed. Where a
// failure is found out otherwise it is long: that is not to be taken for silence, however slow
// the machine is. In the short form the ranks of all trials of silence begin at once, and one
// that must wait for a processor is silent too. It stays below pml_close_timeout, within which a
// goodbye to one that has given this rank up must end.
func (c calamity) patience() time.Duration {
	switch {
	case c.soon:
		return 10 * silenceAfter
	case need.Soaking():
		return silenceAfter
	default: // the more ranks there are, the longer one waits for a processor
		return time.Duration(need.Daily(4, 8)) * time.Second
	}
}

// fair is a run in which all that depend on a victim are told why and, where c.soon, in time.
// Then the short form has three attempts, since a launcher that has no processor meanwhile
// tells nobody in time.
func (c calamity) fair(t *testing.T, tr *trials.Trial) {
	for range 2 {
		waits, late := c.trial(t, tr)
		if !c.soon || len(late) == 0 || need.Soaking() {
			assert.Empty(t, late)
			tr.Done(waits...)
			return
		}
		t.Logf("once more, since these were not told within %v, or not of %q: %q", promptly, c.cause, late)
	}
	waits, late := c.trial(t, tr)
	assert.Empty(t, late)
	tr.Done(waits...)
}

// requireNothingLeft expects that no socket and no file of shared memory has outlived the job.
func requireNothingLeft(t *testing.T, h *testnet.Host) {
	t.Helper()
	var sockets []byte
	require.NoError(t, h.Do(func() (err error) {
		sockets, err = os.ReadFile("/proc/thread-self/net/unix")
		return err
	}))
	require.NotContains(t, string(sockets), "strand-sm-")
	for _, pattern := range []string{"/dev/shm/*strand*", filepath.Join(os.TempDir(), "strand-sm*")} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.Empty(t, files)
	}
}

// trial runs one job. It returns how long those that depend on a victim waited, and the words
// that came late or without the cause.
func (c calamity) trial(t *testing.T, tr *trials.Trial) (waits []time.Duration, late []string) {
	t.Helper()
	n, a, b := nettest.Hosts(t)
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	var placement []*testnet.Host
	for rank := range 2 * pairs {
		placement = append(placement, []*testnet.Host{a, b}[rank%2])
		if c.memory {
			placement[rank] = a
		}
	}
	placement[2*pairs-1] = a
	job := nettest.Play("depend", placement, fmt.Sprintf("STRAND_PML_PEER_TIMEOUT=%v", c.patience()))
	if c.memory && tr.Way(2) == 1 {
		job.Env = append(job.Env, "STRAND_BTL=sm,self") // where nothing can take over
	}
	if c.sealed {
		job.Env = append(job.Env, "STRAND_BTL=tcp,self", "STRAND_BTL_TCP_ENCRYPT=true")
	}
	if c.udp {
		job.Env = append(job.Env, "STRAND_BTL=udp,self")
	}
	job.KeepGoing, job.Timeout = true, time.Minute
	if !c.told {
		job = job.Untold()
	}
	r := tr.Start(t, job)
	for rank := range placement {
		r.Await(rank, "ready")
	}
	struck := time.Now()
	victims := c.strike(tr, r, link)
	for _, victim := range victims {
		line := r.Await(victim^1, "failed: ")
		assert.Contains(t, line.Text, fmt.Sprintf("failed: rank %d on %s: ", victim, placement[victim].Name()))
		wait := line.At.Sub(struck)
		if waits = append(waits, wait); c.soon {
			assert.NotContains(t, line.Text, "no sign of life")
		}
		if !strings.Contains(line.Text, c.cause) || c.soon && wait >= promptly {
			late = append(late, fmt.Sprintf("%v: %s", wait, line.Text))
		}
	}
	c.mend(r, link, victims) // or the goodbyes would be waited for in vain
	for rank := range placement {
		if c.survives(rank, victims) {
			r.Signal(rank, syscall.SIGUSR1)
		}
	}
	verdict := r.Wait()
	if c.kills() {
		var failure *launcher.RankError
		require.ErrorAs(t, verdict, &failure)
		require.Contains(t, victims, failure.Rank, "%v", failure)
		require.Equal(t, 128+int(syscall.SIGKILL), failure.ExitStatus(), "%v", failure)
	}
	for rank := range placement {
		if c.survives(rank, victims) {
			require.Equal(t, "exited with status 0", r.Status(rank), "rank %d", rank)
		}
	}
	for rank := 2*pairs - 2; rank < 2*pairs; rank++ {
		r.Await(rank, "went on: ")
	}
	if c.memory {
		requireNothingLeft(t, a)
	}
	return waits, late
}
