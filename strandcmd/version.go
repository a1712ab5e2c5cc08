package strandcmd

import (
	"cmp"
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

// ownModule is the module of this package. A strand with other transports is built from another
// module.
const ownModule = "github.com/strandmp/strand"

// versionLine describes a build: "strand v1.2.0 (1a2b3c4d5e6f, modified) go1.26
// linux/amd64". What the build does not know is left out.
func versionLine(info *debug.BuildInfo) string {
	return fmt.Sprintf("%s %s %s/%s", buildName(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildName is the part of versionLine that is the same on all kinds of machines. If the program
// is another module's it names that one too: "strand v1.2.0 in example.org/yours v0.3.0
// (1a2b3c4d5e6f)". The revision is then that module's.
func buildName(info *debug.BuildInfo) string {
	if info == nil {
		return "strand (devel)"
	}
	name := "strand " + ownVersion(info)
	if !isOwn(info) {
		name += " in " + info.Main.Path + " " + cmp.Or(info.Main.Version, "(devel)")
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if revision != "" {
		name += " (" + revision + modified + ")"
	}
	return name
}

// isOwn reports whether the program was built from the command's own module.
func isOwn(info *debug.BuildInfo) bool {
	return info.Main.Path == ownModule || info.Main.Path == ""
}

// ownVersion is the version of the command's own module.
func ownVersion(info *debug.BuildInfo) string {
	if isOwn(info) {
		return cmp.Or(info.Main.Version, "(devel)")
	}
	for _, m := range info.Deps {
		switch {
		case m.Path != ownModule:
		case m.Replace != nil: // a folder has no version
			return cmp.Or(m.Replace.Version, "(devel)")
		default:
			return m.Version
		}
	}
	return "(devel)"
}
