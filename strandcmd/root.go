package strandcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/param"
)

// execute runs one command line and returns the status to exit with.
func execute(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	root := newRootCommand(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	addDefaults(root)
	help := heedHelp(root)
	command := root
	args, err := foreignSpellings(root, args)
	if err == nil {
		command, err = misspelt(root, args)
	}
	if err == nil {
		root.SetArgs(args)
		command, err = root.ExecuteC()
	}
	if err == nil {
		err = help.err
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, syscall.EPIPE) && (os.Getpid() == 1 || unheard(err)) { // see ownStdout
		return 128 + int(syscall.SIGPIPE)
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		tell(stderr, fmt.Sprintf("%s: %s\n", command.CommandPath(), text), job.Hurried(err))
	}
	return exitStatus(err)
}

// tell writes the last line. In a hurry it does not wait for a reader for longer than [job.LastWords].
func tell(stderr io.Writer, line string, hurry bool) {
	if !hurry {
		_ = lines.WriteAll(stderr, []byte(line))
		return
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		_ = lines.WriteAll(stderr, []byte(line))
	}()
	late := time.NewTimer(job.LastWords)
	defer late.Stop()
	select {
	case <-told:
	case <-late.C:
	}
}

// unheard reports whether a job has ended because its output could not be passed on. Where the reader has
// gone away nothing is said, as of any program before a pipe.
func unheard(err error) bool {
	_, is := errors.AsType[*job.OutputError](err)
	return is
}

// addDefaults adds the library's own commands, and has all commands complete words and refuse
// those that they do not know. Call it after the root's outputs are set: the library's commands
// take them over at once.
func addDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = knownTopic
		case "completion":
			c.Args = knownCommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			completeProgram(c, filepath.Base(os.Args[0]))
		}
	}
	takeArguments([]*cobra.Command{root})
	countInTens(root.Commands())
	addCompletion(root.Commands())
}

// takeArguments has every mistake in the words of a command line end with the status of a
// usageError, also those that the command library finds.
func takeArguments(commands []*cobra.Command) {
	for _, c := range commands {
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				err := emptyValue(c.Flags())
				if err == nil {
					err = check(c, args)
				}
				if own := (interface{ ExitStatus() int })(nil); err == nil || errors.As(err, &own) {
					return err
				}
				return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
			}
		}
		takeArguments(c.Commands())
	}
}

// countInTens has whole numbers of flags be decimal, as those of parameters and slots are.
func countInTens(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); kind == "int" || kind == "uint64" {
				f.Value = decimal{f.Value}
			}
		})
		countInTens(c.Commands())
	}
}

// A decimal is a flag of a whole number. To the flag library alone 010 is 8, and 0x10 and 1_0 are numbers.
type decimal struct{ pflag.Value }

func (d decimal) Set(text string) error {
	digits := strings.TrimLeft(text, "+-")
	if rest := strings.TrimLeft(digits, "0123456789"); rest != "" || digits == "" {
		return strconv.ErrSyntax
	}
	sign := text[:len(text)-len(digits)]
	return d.Value.Set(sign + cmp.Or(strings.TrimLeft(digits, "0"), "0"))
}

// emptyValue refuses flags whose value is an empty text, or a list with an empty item. Most
// likely a script has failed to find the value.
func emptyValue(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		if list, is := f.Value.(pflag.SliceValue); is && f.Value.Type() == "stringSlice" {
			text = strings.Join(list.GetSlice(), ",")
			if text != "" && slices.Contains(list.GetSlice(), "") {
				err = errors.Join(err, fmt.Errorf("--%s %s: a name between its commas is empty", f.Name, text))
			}
		} else if f.Value.Type() != "string" {
			return
		}
		if text == "" {
			err = errors.Join(err, fmt.Errorf("--%s: the value is empty", f.Name))
		}
	})
	return err
}

// together refuses flags that exclude each other: one, if it is given, excludes all the others.
func together(flags *pflag.FlagSet, one string, others ...string) error {
	for _, other := range others {
		if flags.Changed(one) && flags.Changed(other) {
			return usageError{fmt.Errorf("--%s and --%s exclude each other: leave out one", one, other)}
		}
	}
	return nil
}

// exitStatus is what the error asks for, or 1.
func exitStatus(err error) int {
	var own interface{ ExitStatus() int }
	if errors.As(err, &own) {
		return own.ExitStatus()
	}
	return 1
}

func newRootCommand(stdin *os.File) *cobra.Command {
	root := &cobra.Command{
		Use:   "strand",
		Short: "Message passing over any network: start programs, look at transports, measure them",
		Long: `Strand moves messages between the processes of a parallel program, over the
networks they have. This command starts such programs and shows what the
transports below them do.`,
		Example: `  strand run -n 4 ./program
  strand run -n 8 --btl tcp,self -p btl_tcp_if_include=eth0 ./program argument
  strand info --param btl tcp
  strand reach --peer node2
  strand bench pingpong --against raw`,
		// Errors are printed once, by execute; usage only on request.
		SilenceErrors: true,
		SilenceUsage:  true,

		Version: versionLine(buildInfo()), // strand --version, as users may expect

		DisableFlagsInUseLine: true,
		Args:                  knownCommand, // else the library refuses with a status of its own
		RunE:                  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: suggestionDistance,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		plain := plainFlagError(c.Flags(), err)
		if remedy := launcherFlags[unknownFlag(err)]; remedy != "" && c.Name() == "run" {
			plain = fmt.Errorf("%w: %s", err, remedy)
		}
		return usageError{fmt.Errorf("%w; see %s --help", plain, c.CommandPath())}
	})
	root.AddCommand(
		newRunCommand(stdin, checkSettings),
		newElsewhereCommand(),
		newInfoCommand(),
		newReachCommand(),
		newBenchCommand(),
		newCompareCommand(),
		newConformanceCommand(),
		newNetCommand(),
		newVersionCommand(),
	)
	return root
}

// A usageError is a mistake in the command line: status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
func (usageError) ExitStatus() int { return 2 }

// suggestionDistance is how many letters may be wrong in the name of a command for
// it to be recognised.
const suggestionDistance = 2

// noArguments refuses all words but flags.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// knownCommand refuses words that name no command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no commands of its own: unexpected argument %q", cmd.CommandPath(), args[0])
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", args[0], strings.Join(near, ", or "))
	}
	return fmt.Errorf("unknown command %q: want one of %s", args[0], strings.Join(names, ", "))
}

// misspelt looks, before the first flag, for a word that should name a command and does not. It
// returns an error and the command that was given the word. The command library alone would take
// the flags behind the word for flags of that command.
func misspelt(root *cobra.Command, args []string) (*cobra.Command, error) {
	for at := root; len(args) > 0 && !isFlag(args[0]) && at.HasAvailableSubCommands(); args = args[1:] {
		next := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] || c.HasAlias(args[0]) })
		if next < 0 && (at != root || !strings.HasPrefix(args[0], "__")) { // the library's hidden commands begin so
			return at, usageError{fmt.Errorf("%w; see %s --help", knownCommand(at, args[:1]), at.CommandPath())}
		}
		if next < 0 {
			break
		}
		at = at.Commands()[next]
	}
	return root, nil
}

// knownTopic refuses help on a word that names no command.
func knownTopic(help *cobra.Command, args []string) error {
	command, rest, err := help.Root().Find(args)
	if err == nil && len(rest) > 0 {
		return knownCommand(command, rest)
	}
	return err
}

// unknownFlag is the name of a flag that there is not, "" if the error is another one.
func unknownFlag(err error) string {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return ""
	}
	return cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
}

// plainFlagError says in plain words what is wrong with a flag's value, where the library only repeats
// what a parser said, and which flag may be meant by one that there is not.
func plainFlagError(flags *pflag.FlagSet, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := param.Nearest(unknown.GetSpecifiedName(), slices.Values(names)); near != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, near)
		}
		return err
	}
	bad, isValue := errors.AsType[*pflag.InvalidValueError](err)
	if !isValue {
		return err
	}
	flag := bad.GetFlag()
	name := "--" + flag.Name
	if len(flag.Name) == 1 {
		name = "-" + flag.Name
	}
	example := func(otherwise string) string { // the default, if it says something
		if d := flag.DefValue; d != "" && d != "0" && d != "0s" && d[0] != '-' {
			otherwise = d
		}
		return name + " " + otherwise
	}
	wants := map[string]string{
		"int":      "a whole number, such as " + example("4"),
		"uint64":   "a whole number of 0 or more, such as " + example("4"),
		"float64":  "a number, such as " + example("4"),
		"duration": "a time with its unit (ms, s, m, h), such as " + example("90s"),
		"bool":     "true or false, or no value for true: " + name,
	}
	if flags.Lookup(verboseBTL) != nil && flag.Name == "verbose" {
		wants["bool"] += "; or btl=1, for what transports do: --verbose btl=1"
	}
	want, known := wants[flag.Value.Type()]
	if !known {
		return fmt.Errorf("%s %s: %w", name, bad.GetValue(), bad.Unwrap())
	}
	return fmt.Errorf("%s %s: want %s", name, bad.GetValue(), want)
}
