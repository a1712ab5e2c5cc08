package launch

import (
	"context"
	"errors"

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
