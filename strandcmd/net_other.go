//go:build !linux

package strandcmd

import (
	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/topology"
)

func netUp(*cobra.Command, *topology.Topology, []string) error { return errLinux }
func netExec(netHost, []string) error                          { return errLinux }
func (netDescription) end() error                              { return errLinux }
