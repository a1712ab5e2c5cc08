package strandcmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/lab/peers"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
)

// A completer returns the words that may stand where the user has written word, the beginning of
// one.
type completer func(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective)

// completers complete the values of flags. A flag's name means the same in all commands, unless a command is named too.
var completers = map[string]completer{
	"btl":        listOf(transportNames),
	"mca":        completeMCA,
	"param":      completeParam,
	"on-failure": oneOf(func() []string { return []string{"kill", "continue"} }),
	"level":      oneOf(func() []string { return []string{"user", "tuner", "developer"} }),
	"policy":     oneOf(reach.PolicyNames),
	"bind-to":    oneOf(func() []string { return bindings }),
	"map-by":     oneOf(func() []string { return mappings }),
	"against":    completeContenders,
	"calls":      listOf(bench.Calls),
	"metric":     listOf(results.Metrics),
	"congestion": oneOf(func() []string { return []string{"auto", "cubic", "reno", "bbr"} }),
	"workload":   listOf(workloadNames),
	"emulation":  oneOf(func() []string { return compare.Emulations }),
	"ordering":   listOf(func() []string { return []string{"strict", "relaxed"} }),
	"from":       files("json"),
	"baseline":   files("json"),

	"strand bench peers --only": listOf(peers.TableNames),
	"strand conformance --only": listOf(caseNames),
}

// argumentCompleters complete the first argument of a command, by the command's path.
var argumentCompleters = map[string]completer{
	"strand net up":   files("yaml", "yml"),
	"strand net show": files("yaml", "yml"),
	"strand net exec": oneOf(hostNames),
	"strand info":     completeInfo,
}

// addCompletion has shells complete the flags' values and the first arguments of the commands,
// and of the commands below them.
func addCompletion(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			complete, known := completers[c.CommandPath()+" --"+f.Name]
			if !known {
				complete, known = completers[f.Name]
			}
			if known {
				// It fails only for a flag that does not exist.
				_ = c.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return complete(cmd, word)
				})
			}
		})
		if complete, known := argumentCompleters[c.CommandPath()]; known {
			c.ValidArgsFunction = func(cmd *cobra.Command, before []string, word string) ([]string, cobra.ShellCompDirective) {
				if len(before) > 0 {
					return nil, cobra.ShellCompDirectiveDefault // the arguments of a command to start: files
				}
				return complete(cmd, word)
			}
		}
		addCompletion(c.Commands())
	}
}

// completeProgram has the shells' scripts complete commands by the name that this program has,
// which need not be strand.
func completeProgram(completion *cobra.Command, program string) {
	for _, shell := range completion.Commands() {
		write := shell.RunE
		shell.RunE = func(cmd *cobra.Command, args []string) error {
			cmd.Root().Use = program
			return write(cmd, args)
		}
	}
}

// oneOf completes a word.
func oneOf(words func() []string) completer {
	return func(_ *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
		return beginning(words(), word), cobra.ShellCompDirectiveNoFileComp
	}
}

// listOf completes the last of several words with commas between them. A transport may have ^ in front.
func listOf(words func() []string) completer {
	return func(_ *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
		end := strings.LastIndexAny(word, ",^") + 1
		var all []string
		for _, w := range words() {
			if !slices.Contains(strings.FieldsFunc(word[:end], func(r rune) bool { return r == ',' || r == '^' }), w) {
				all = append(all, word[:end]+w)
			}
		}
		return beginning(all, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// files completes names of files with one of the extensions.
func files(extensions ...string) completer {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

func beginning(words []string, with string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, with) })
}

// completeParam completes name=value; in strand info a name or a group alone, too.
func completeParam(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	found, directive := completeSetting(cmd, word)
	if cmd.Name() == "info" && !strings.Contains(word, "=") {
		for _, v := range declared() {
			found = append(found, beginning([]string{v.Spec.Name}, word)...)
		}
		all := slices.DeleteFunc(groups(declared()), func(group string) bool { return strings.Contains(group, " ") }) // with a component
		found = append(found, beginning(append(all, allParameters), word)...)
	}
	return found, directive
}

// completeInfo completes what follows a group of parameters, a component, or else the name of a job.
func completeInfo(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	show, is := cmd.Flags().Lookup("param").Value.(*showOrSet)
	if !is || *show.group == "" {
		return oneOf(jobNames)(cmd, word)
	}
	group := *show.group
	if group == allParameters {
		group = "btl" // only transports have components
	}
	var components []string
	for _, g := range groups(declared()) {
		if name, of := strings.CutPrefix(g, group+" "); of {
			components = append(components, name)
		}
	}
	return beginning(components, word), cobra.ShellCompDirectiveNoFileComp
}

// completeMCA completes the name of a parameter, ours or Open MPI's. For strand run name and value are words of their own; the
// second one comes with the first before it (foreignSpellings).
func completeMCA(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	if cmd.Name() != "run" {
		return completeSetting(cmd, word)
	}
	name, value, hasName := strings.Cut(word, " ")
	if !hasName {
		names := slices.Sorted(maps.Keys(openMPI))
		for _, v := range declared() {
			names = append(names, v.Spec.Name)
		}
		return beginning(names, word), cobra.ShellCompDirectiveNoFileComp
	}
	if theirs, is := openMPI[name]; is && theirs.translate == nil {
		name = theirs.name
	}
	values, directive := completeSetting(cmd, name+"="+value)
	for i := range values {
		values[i] = strings.TrimPrefix(values[i], name+"=")
	}
	return values, directive
}

// completeContenders completes who can be measured beside Strand by a command.
func completeContenders(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	names := peers.Names
	if cmd.Name() != "peers" {
		names = func() []string {
			return slices.DeleteFunc(bench.Peers(), func(name string) bool { return bench.CanPlay(name, bench.Workload(cmd.Name())) != nil })
		}
	}
	return listOf(names)(cmd, word)
}

// completeSetting completes the name of a parameter, and behind = the value of one that has few.
func completeSetting(_ *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	name, value, hasValue := strings.Cut(word, "=")
	var all []string
	for _, v := range declared() {
		if !hasValue {
			all = append(all, v.Spec.Name+"=")
		}
		if hasValue && v.Spec.Name == name {
			for _, allowed := range valuesOf(&v.Spec) {
				all = append(all, name+"="+allowed)
			}
		}
	}
	if hasValue && name == "btl" {
		list, directive := listOf(transportNames)(nil, value)
		for _, l := range list {
			all = append(all, name+"="+l)
		}
		return all, directive
	}
	return beginning(all, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func valuesOf(s *param.Spec) []string {
	switch s.Kind {
	case param.Bool:
		return []string{"true", "false"}
	case param.Enum:
		return s.Choices
	}
	return nil
}

// declared returns all parameters with their defaults. It does not read files or the
// environment: they may have mistakes, and here nobody can be told of them.
func declared() []param.Value {
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	values, err := registry.Resolve(param.Inputs{})
	if err != nil {
		return nil
	}
	return values.All()
}

func transportNames() (names []string) {
	for _, c := range btl.Default.Components() {
		names = append(names, c.Name())
	}
	return names
}

func caseNames() (names []string) {
	for _, c := range conformance.Cases() {
		names = append(names, c.Name)
	}
	return names
}

func workloadNames() (names []string) {
	for _, k := range workload.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// hostNames are the hosts of the network that this process was started with.
func hostNames() (names []string) {
	n, err := thisNet()
	if err != nil {
		return nil
	}
	for _, h := range n.Hosts {
		names = append(names, h.Name)
	}
	return names
}

// jobNames are those of the jobs that strand info --live shows.
func jobNames() (names []string) {
	jobs, _ := live.AllJobs() // an error is about jobs that do not answer
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	return names
}
