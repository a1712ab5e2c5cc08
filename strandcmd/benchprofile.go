package strandcmd

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
)

// profile begins to note where this rank's processor time goes. Stop writes it to name.RANK. An empty name is for none.
func profile(name string, rank int) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(fmt.Sprintf("%s.%d", name, rank))
	if err != nil {
		return nil, fmt.Errorf("--cpuprofile: rank %d: %w", rank, err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("--cpuprofile: rank %d: %w", rank, err), f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
