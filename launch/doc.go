// Package launch tells a process its place in a parallel job: which rank it
// is, of how many, and what the other ranks published.
//
// [FromEnvironment] finds out from what the launcher left behind. It speaks
// PMI-1, so that the same binary runs under "strand run", MPICH's mpiexec and
// Slurm's srun --mpi=pmi2; without a launcher the process is a world of one.
// What clearly starts several processes but offers no PMI-1 is an error that
// names the command to use, never several worlds of one.
package launch
