//go:build !linux

package strandcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/topology"
)

var errLinux = errors.New("emulated networks need Linux")

func netUp(*cobra.Command, *topology.Topology, []string) error { return errLinux }
func netExec(netHost, []string) error                          { return errLinux }
func (netDescription) end() error                              { return errLinux }
