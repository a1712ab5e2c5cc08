package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this command and what it was built with",
		Example: "  strand version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine(info))
			return err
		},
	}
}

// versionLine describes a build: "strand v1.2.0 (1a2b3c4d5e6f, modified) go1.26
// linux/amd64". What the build does not know is left out.
func versionLine(info *debug.BuildInfo) string {
	version, revision, modified := "(devel)", "", ""
	if info != nil {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	if revision != "" {
		revision = " (" + revision + modified + ")"
	}
	return fmt.Sprintf("strand %s%s %s %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
