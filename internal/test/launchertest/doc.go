// Package launchertest has tests only: programs under the launchers of others, MPICH's Hydra
// and Slurm, as Debian has them. A Slurm of one node is started for the tests, as the superuser
// and on the loopback, and ended after them.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package launchertest
