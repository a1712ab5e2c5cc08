package strandcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/strandmp/strand/param"
)

var (
	errNoProgram = errors.New("no program given: strand run -n 4 ./program argument…; see strand run --help")
	errNoRanks   = errors.New("how many ranks? give -n: strand run -n 4 ./program; see strand run --help")
)

// laMPI lists the flags of LA-MPI's launcher that set a parameter.
var laMPI = []struct{ flag, parameter string }{
	{"i", "btl_tcp_if_include"},
	{"ni", "btl_tcp_max_interfaces"},
	{"tcpmaxfrag", "btl_tcp_max_frag"},
	{"tcpeagersend", "btl_tcp_eager_limit"},
	{"tcpconretries", "btl_tcp_connect_retries"},
}

// autoCleanup is the flag by which MPICH's mpiexec lets the others go on when a rank
// fails.
const autoCleanup = "disable-auto-cleanup"

// verboseBTL is the flag that --verbose btl=1 becomes. verbosePrefix tells it from a plain
// --verbose, which is about the launcher.
const (
	verboseBTL    = "verbose-btl"
	verbosePrefix = "btl="
)

// addSettingFlags declares the flags that set parameters. Each use appends a
// setting that remembers by which flag it came.
func addSettingFlags(flags *pflag.FlagSet, settings *[]param.Setting) {
	flags.Var(&settingFlag{settings, "btl", "--btl"}, "btl", "the transports to use: tcp,self; or all but some: ^tcp")
	flags.VarP(&pairFlag{settings, "-p"}, "param", "p", "set a parameter; strand info lists them")
	flags.Var(&mcaFlag{settings}, "mca", "set a parameter, as --mca name value; knows Open MPI's names too")
	flags.Var(&settingFlag{settings, "verbose", "--verbose btl"}, verboseBTL, "set the parameter verbose")
	if err := flags.MarkHidden(verboseBTL); err != nil {
		panic(err) // it was declared the line before
	}
	for _, f := range laMPI {
		shorthand := ""
		if len(f.flag) == 1 {
			shorthand = f.flag
		}
		flags.VarP(&settingFlag{settings, f.parameter, "-" + f.flag}, f.flag, shorthand, "sets "+f.parameter)
		if err := flags.MarkHidden(f.flag); err != nil {
			panic(err) // it was declared the line before
		}
	}
}

// A settingFlag sets one parameter.
type settingFlag struct {
	settings *[]param.Setting
	name     string
	spelling string
}

func (f *settingFlag) String() string { return "" }
func (f *settingFlag) Type() string   { return "list" }

func (f *settingFlag) Set(text string) error {
	*f.settings = append(*f.settings, flagSetting(f.name, text, f.spelling))
	return nil
}

// A pairFlag sets the parameter that its value names.
type pairFlag struct {
	settings *[]param.Setting
	spelling string
}

func (f *pairFlag) String() string { return "" }
func (f *pairFlag) Type() string   { return "name=value" }

func (f *pairFlag) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return fmt.Errorf("want name=value, such as %s btl_tcp_if_include=eth0", f.spelling)
	}
	*f.settings = append(*f.settings, flagSetting(name, value, f.spelling))
	return nil
}

func flagSetting(name, text, spelling string) param.Setting {
	return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Flag, Where: spelling}}
}

// foreignSpellings rewrites flags after "run" that are accepted though the flag library does not
// know them: other launchers' long flags with one dash, --mca with two values, and --verbose
// with one. It does so too where a shell asks for the end of a word.
func foreignSpellings(root *cobra.Command, args []string) ([]string, error) {
	asks := len(args) > 2 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
	words := args
	if asks {
		words = args[1 : len(args)-1]
	}
	if len(words) == 0 || words[0] != "run" {
		return args, nil
	}
	run, _, err := root.Find(words[:1])
	if err != nil {
		return nil, err
	}
	out, rest := plainFlags(run.Flags(), words[1:])
	lacking := len(rest) > 0 && oneDash(run.Flags(), rest[0]) == "--mca"
	switch {
	case lacking && !asks:
		return nil, usageError{errors.New("--mca: want a name and a value, such as --mca btl tcp,self")}
	case lacking: // the name, if it is there, goes before what the shell asks for
		asked := strings.Join(slices.Concat(rest[1:], args[len(args)-1:]), " ")
		return slices.Concat(args[:2], out, []string{"--mca", asked}), nil
	case asks:
		return slices.Concat(args[:2], out, rest, args[len(args)-1:]), nil
	}
	return slices.Concat(args[:1], out, rest), nil
}

// plainFlags rewrites flags as the flag library knows them. It stops where they end, at the program or "--", or at an --mca that lacks
// a word.
func plainFlags(flags *pflag.FlagSet, words []string) (out, rest []string) {
	rest = words
	for len(rest) > 0 && isFlag(rest[0]) {
		n := 1
		switch word := oneDash(flags, rest[0]); word {
		case "--mca":
			if len(rest) < 3 {
				return out, rest
			}
			out = append(out, "--mca="+rest[1]+"="+rest[2])
			n = 3
		case "--verbose":
			if len(rest) > 1 && strings.HasPrefix(rest[1], verbosePrefix) {
				word, n = "--"+verboseBTL+strings.TrimPrefix(rest[1], "btl"), 2
			}
			out = append(out, word)
		default:
			out = append(out, word)
			if takesNext(flags, word) && len(rest) > 1 {
				out = append(out, rest[1])
				n = 2
			}
		}
		rest = rest[n:]
	}
	return out, rest
}

// oneProgram refuses what names several programs to Open MPI, ./a : -n 2 ./b. The first one would be started alone, with the rest as its
// arguments. Behind "--" they are that.
func oneProgram(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() >= 0 {
		return nil
	}
	for i, word := range args[1:] {
		if word != ":" || i+2 == len(args) || !isOurs(cmd.Flags(), args[i+2]) {
			continue
		}
		return usageError{fmt.Errorf(`"%s : %s" begins another program for mpirun, and here a job has one, which looks at its rank; `+
			"if they are arguments of %[3]s, put -- before it: strand run … -- %[3]s", args[i], args[i+2], args[0])}
	}
	return nil
}

// isOurs reports whether a word is one of these flags.
func isOurs(flags *pflag.FlagSet, word string) bool {
	if !isFlag(word) {
		return false
	}
	name, long := strings.CutPrefix(oneDash(flags, word), "--")
	name, _, _ = strings.Cut(name, "=")
	if long {
		return flags.Lookup(name) != nil
	}
	return flags.ShorthandLookup(word[1:2]) != nil
}

// isSetting says whether a word looks like name=value.
func isSetting(word string) bool { return strings.Contains(word, "=") && !strings.Contains(word, "/") }

// isFlag says whether a word is a flag and not the program or the end of flags.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// oneDash adds the second dash to long flags that others write with one: those of strand run, and those of other launchers that
// are known. It turns -np and --np into --n, and --verbose=btl=1 into --verbose-btl=1.
func oneDash(flags *pflag.FlagSet, word string) string {
	if level, ofTransports := strings.CutPrefix(word, "--verbose="+verbosePrefix); ofTransports {
		return "--" + verboseBTL + "=" + level
	}
	name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	switch {
	case name == "np":
		name = "n"
	case strings.HasPrefix(word, "--") || len(name) < 2 || flags.Lookup(name) == nil && launcherFlags[name] == "":
		return word
	}
	if hasValue {
		return "--" + name + "=" + value
	}
	return "--" + name
}

// takesNext says whether the word after a flag is its value.
func takesNext(flags *pflag.FlagSet, word string) bool {
	if name, long := strings.CutPrefix(word, "--"); long {
		f := flags.Lookup(name) // not found if it has its value: "name=value"
		return f != nil && f.NoOptDefVal == ""
	}
	// Of joined short flags, the first that takes a value ends the word.
	for i := 1; i < len(word); i++ {
		f := flags.ShorthandLookup(word[i : i+1])
		if f == nil {
			return false
		}
		if f.NoOptDefVal == "" {
			return i == len(word)-1
		}
	}
	return false
}
