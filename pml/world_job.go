package pml

import "context"

// A Job is what the message layer asks of the parallel job that its process
// belongs to; a launch.Job has it. The methods are safe for any number of
// goroutines.
type Job interface {
	Rank() int // 0 ≤ Rank < Size
	Size() int

	// Name is the same in all processes of the job.
	Name() string

	// Hostname is the name of the host this process runs on.
	Hostname() string

	// Put publishes a value under a key. Others see it after the next Barrier.
	Put(ctx context.Context, key, value string) error

	// Get returns what some process put under the key.
	Get(ctx context.Context, key string) (string, error)

	// Barrier returns when all processes of the job have called it.
	Barrier(ctx context.Context) error
}
