package param

import "os"

// jobVariable is what "strand run" sets in the processes that it starts.
const jobVariable = ReservedEnv + "JOB"

// HowTo says, for a remedy in an error, how the user sets a parameter of this process. If
// "strand run" has started the process that is a flag; other launchers know no such flags, so
// else it is a variable. If value is "" it names only what to set.
func HowTo(name, value string) string {
	_, launched := os.LookupEnv(jobVariable)
	how, link := "-p "+name, "="
	switch {
	case !launched:
		how = EnvName(name)
	case name == "btl":
		how, link = "--btl", " "
	}
	if value == "" {
		return how
	}
	return how + link + value
}
