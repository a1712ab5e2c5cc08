//go:build !linux

package launchertest

// finish keeps the status: there is no Slurm to be ended.
func finish(status int) int { return status }
