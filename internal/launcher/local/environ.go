package local

import (
	"os"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// ownVariables are the launcher's: those that it sets, and those that an outer launcher has set
// and that would be wrong in the ranks.
var ownVariables = append(launch.Variables(), "MPI_LOCALRANKID", "MPI_LOCALNRANKS", param.FlagsVariable, control.Variable, launch.ProcessorsEnv, trace.Variable)

// IsOwnVariable reports whether only a launcher sets the variable.
func IsOwnVariable(name string) bool { return slices.Contains(ownVariables, name) }

// Environ returns this process's environment without the launcher's variables.
func Environ() []string {
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !IsOwnVariable(name) {
			env = append(env, entry)
		}
	}
	return env
}
