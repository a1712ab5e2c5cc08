package launch

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/launcher/pmi"
	"github.com/strandmp/strand/param"
)

// ProcessorsEnv is set by "strand run" to how many processors the ranks of a host have between them.
const ProcessorsEnv = param.ReservedEnv + "PROCESSORS"

// mostProcessors is more than any host has.
const mostProcessors = 1 << 20

// findCompany finds out how many ranks of the job run on this host, and how many processors these have. A rank can run without,
// so nonsense is no error.
//
// "strand run" says both by variables. Other launchers pass such variables on, from a launcher around them. What they say of the
// job itself is which rank is on which node.
func (m *member) findCompany(ctx context.Context, env lookup) error {
	if m.launcher == strandRun {
		m.local, m.processors = numberOr0(env, "MPI_LOCALNRANKS", m.size), numberOr0(env, ProcessorsEnv, mostProcessors)
		return nil
	}
	mapping, err := m.client.Get(ctx, pmi.MappingKey)
	if err == nil {
		m.local, err = pmi.OnNode(mapping, m.rank, m.size)
	}
	if err != nil && m.launcher == hydra {
		m.local = numberOr0(env, "MPI_LOCALNRANKS", m.size)
	}
	if m.launcher == slurm {
		m.local = cmp.Or(slurmsRanksHere(env, m.size), m.local)
	}
	m.processors = parentsProcessors()
	if err != nil && !errors.Is(err, pmi.ErrNoKey) && !errors.Is(err, pmi.ErrMapping) {
		return err
	}
	return nil
}

// numberOr0 reads a variable that need not be there.
func numberOr0(env lookup, name string, most int) int {
	n, err := number(env, name, 1, most)
	if err != nil {
		return 0
	}
	return n
}

// slurmsRanksHere is how many ranks of a job of that size srun says that it has started on this node, 0 if it does not say. Where the user has
// listed the host of each rank (srun -m arbitrary), its mapping has each alone on a node.
func slurmsRanksHere(env lookup, size int) (here int) {
	counts, _ := env("SLURM_STEP_TASKS_PER_NODE") // 3,1(x2): three, one and one
	node, _ := env("SLURM_NODEID")
	own, err := strconv.Atoi(node)
	if err != nil {
		return 0
	}
	nodes, left := 0, size
	for part := range strings.SplitSeq(counts, ",") {
		ranks, times, err := slurmsCount(part)
		if err != nil || ranks < 1 || times < 1 || times > left/ranks {
			return 0
		}
		if own >= nodes && own < nodes+times {
			here = ranks
		}
		nodes, left = nodes+times, left-ranks*times
	}
	if left != 0 {
		return 0 // of another step
	}
	return here
}

// slurmsCount reads how many ranks each of how many nodes has: 3, or 3(x2).
func slurmsCount(text string) (ranks, nodes int, err error) {
	nodes = 1
	if rest, repeated := strings.CutSuffix(text, ")"); repeated {
		each, times, _ := strings.Cut(rest, "(x")
		if nodes, err = strconv.Atoi(times); err != nil {
			return 0, 0, err
		}
		text = each
	}
	ranks, err = strconv.Atoi(text)
	return ranks, nodes, err
}
