package launch

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

// A foreign launcher starts several processes but offers them no PMI-1.
type foreign struct {
	name   string
	marker string   // the variable that only its processes have
	sizes  []string // variables with the number of processes: the first set counts
	use    string   // how to start the same: %[1]s is the size, %[2]s the program
}

const (
	useStrand = `"strand run -n %[1]s %[2]s"`
	useMPICH  = `"mpiexec -n %[1]s %[2]s" of MPICH`
	useSlurm  = `"srun --mpi=pmi2 -n %[1]s %[2]s"`
)

// slurmStep is a variable that only srun sets. A batch script, and all that it starts without
// srun, is one process but has the other marks of a task (SLURM_PROCID, SLURM_NTASKS).
const slurmStep = "SLURM_STEP_ID"

// slurmShells are the numbers of steps that are a shell: that of salloc, or a batch script.
var slurmShells = []string{"4294967290", "4294967291"}

// foreigners are looked for in this order: Open MPI's processes may have
// Slurm's variables too, and those of either may have PMIx's.
var foreigners = []foreign{
	{
		"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", []string{"OMPI_COMM_WORLD_SIZE"},
		useStrand + ", or " + useMPICH + " for several hosts",
	},
	{
		"Slurm without PMI-1", slurmStep, []string{"SLURM_STEP_NUM_TASKS"},
		useSlurm + " (for one process inside a step unset " + slurmStep + ")",
	},
	{
		"a launcher that speaks PMIx only", "PMIX_RANK", []string{"PMIX_SIZE"},
		useStrand + ", " + useMPICH + " or " + useSlurm + " (for one process alone, of which PMIx tells no number, unset PMIX_RANK)",
	},
	{
		"a launcher that offers neither PMI_FD nor PMI_PORT", "PMI_RANK", []string{"PMI_SIZE"},
		useStrand + ", " + useMPICH + " or " + useSlurm,
	},
}

// refuseForeign returns an error if this process is one of several that can
// not find each other.
func refuseForeign(env lookup) error {
	for _, f := range foreigners {
		mark, found := env(f.marker)
		if !found || f.marker == slurmStep && slices.Contains(slurmShells, mark) {
			continue
		}
		size := f.size(env)
		if size == "1" {
			return nil // a world of one is what was asked for
		}
		return fmt.Errorf("launch: this process was started by %s (%s=%.20s in the environment) as one of %s, but not told how to find the others: use %s",
			f.name, f.marker, mark, size, fmt.Sprintf(f.use, size, os.Args[0]))
	}
	return nil
}

// size returns the number of processes as text, "N" if it is not known.
func (f foreign) size(env lookup) string {
	for _, name := range f.sizes {
		if text, found := env(name); found {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				return strconv.Itoa(n)
			}
		}
	}
	return "N"
}
