package strandcmd

// self is this program, for it to start itself. It can be found on hosts of networks too,
// and where its directory is closed to this user.
func self() (string, error) { return "/proc/self/exe", nil }
