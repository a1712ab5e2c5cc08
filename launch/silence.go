package launch

import (
	"fmt"
	"os"
	"time"
)

// patience is how long a call waits for the launcher before it says so. One that is well answers within milliseconds.
var patience = 30 * time.Second

// silence says on standard error whom a process waits for, if it still does after patience. No other way is open: the launcher
// itself is silent. The returned function ends the wait.
func silence(who, whom string) (over func()) {
	late := time.AfterFunc(patience, func() {
		fmt.Fprintf(os.Stderr, "strand: %s has waited for %v for an answer of %s\n", who, patience, whom)
	})
	return func() { late.Stop() }
}

// whereLauncherIs names the launcher by the variables that led to it, and says what may be wrong with it.
func whereLauncherIs(env lookup) string {
	name := wayToLauncher(env)
	value, _ := env(name)
	return fmt.Sprintf("the launcher at %[1]s=%.100[2]s (from the environment): is it stopped? "+
		"If there is none, and another job has left the variable behind, unset %[1]s to run a world of one", name, value)
}

// wayToLauncher is the variable that leads to the launcher.
func wayToLauncher(env lookup) string {
	if has(env, "PMI_FD") {
		return "PMI_FD"
	}
	return "PMI_PORT"
}
