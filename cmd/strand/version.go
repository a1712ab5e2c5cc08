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
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine(buildInfo()))
			return err
		},
	}
}

// buildInfo is what this program knows of its build, nil if nothing.
func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

// versionLine describes a build: "strand v1.2.0 (1a2b3c4d5e6f, modified) go1.26
// linux/amd64". What the build does not know is left out.
func versionLine(info *debug.BuildInfo) string {
	return fmt.Sprintf("%s %s %s/%s", buildName(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildName is the part of that which is the same on all kinds of machines.
func buildName(info *debug.BuildInfo) string {
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
	return "strand " + version + revision
}
