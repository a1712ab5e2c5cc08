package strandcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
)

const conformanceLong = `Holds a transport to the rules that every transport has to keep: the suite of
package conformance, which needs no launcher and no network. Its ranks are in this
process, connected over the loopback. Each case checks all rules, and
is made to put some of them to the test; --list shows both.

It prints a row for each case as it ends, then one for each rule: whether it holds, how
long its cases took, its words, where the contract says so, and which cases were made
for it. Below that is what was seen of rules that were broken. The same seed makes the
same frames again. A case is not applicable ("–") where the transport has nothing that
it could test; what that is stands beside it.

The status is 1 if a rule was broken, or if the transport can not serve here.`

const conformanceExample = `  strand conformance --btl tcp
  strand conformance --btl sctp -p btl_sctp_stack=user -p btl_sctp_connect_timeout=2s
  strand conformance --btl tcp --only late-bytes,late-end --seed 4711
  strand conformance --list
  strand conformance --btl tcp --json`

// A conformanceRun is one use of strand conformance.
type conformanceRun struct {
	transport  string
	settings   []param.Setting
	only       []string
	seed       uint64
	timeout    time.Duration
	list, json bool
}

func newConformanceCommand() *cobra.Command {
	run := &conformanceRun{}
	cmd := &cobra.Command{
		Use:     "conformance --btl name [flags]",
		Short:   "Hold a transport to the rules of all transports",
		Long:    conformanceLong,
		Example: conformanceExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if run.list {
				return run.inventory(cmd.OutOrStdout())
			}
			ctx, stop := interruptible(commandContext(cmd))
			defer stop()
			return run.run(ctx, cmd.Flags().Changed("seed"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&run.transport, "btl", "", "the transport: one `name`")
	flags.VarP(&pairFlag{&run.settings, "-p"}, "param", "p", "set a parameter of the transport")
	flags.StringSliceVar(&run.only, "only", nil, "run these `cases` alone")
	flags.Uint64Var(&run.seed, "seed", 0, "`number` from which all random choices follow; without it one is taken from the clock, and shown")
	flags.DurationVar(&run.timeout, "timeout", 20*time.Second, "a case hangs when nothing has happened in it for this `time`")
	flags.BoolVar(&run.list, "list", false, "show the cases and the rules, and run nothing")
	flags.BoolVar(&run.json, "json", false, "write JSON")
	return cmd
}

// inventory lists the cases and the rules of the suite.
func (c *conformanceRun) inventory(out io.Writer) error {
	cases, rules := conformance.Cases(), conformance.Rules()
	if c.json {
		return writeJSON(out, jsonInventory(cases, rules))
	}
	rows := [][]string{{"CASE", "ABOUT"}}
	for _, c := range cases {
		rows = append(rows, []string{c.Name, fmt.Sprintf("%s (rules: %s)", c.About, strings.Join(c.Rules, ", "))})
	}
	_, err := fmt.Fprintf(out, "%s\n\n", strings.Join(align(rows), "\n"))
	rows = [][]string{{"RULE", "WORDS"}}
	for _, r := range rules {
		rows = append(rows, []string{r.Name, fmt.Sprintf("%s (%s)", r.Text, r.Source)})
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", strings.Join(align(rows), "\n"))
	}
	return err
}

func (c *conformanceRun) run(ctx context.Context, seeded bool, out, status io.Writer) error {
	component, err := c.component()
	if err == nil {
		err = c.known(component)
	}
	if err != nil {
		return usageError{err}
	}
	total := len(conformance.Cases())
	if len(c.only) > 0 {
		total = len(c.only)
	}
	bar, done := newProgress(status), 0
	table := &caseTable{out: out}
	opts := []conformance.Option{conformance.Timeout(c.timeout), conformance.AllowUnavailable(),
		conformance.Watch(func(r conformance.Result) {
			done++
			if !c.json {
				bar.finish()
				table.add(r)
			}
			bar.update(done, total)
		})}
	if seeded {
		opts = append(opts, conformance.Seed(c.seed))
	}
	if len(c.only) > 0 {
		opts = append(opts, conformance.Only(c.only...))
	}
	report := conformance.Check(ctx, func() conformance.Subject {
		return conformance.Subject{Component: component, Settings: c.settings}
	}, opts...)
	bar.finish()
	if c.json {
		err = writeJSON(out, jsonReport(component.Name(), report))
	} else {
		err = table.close(component.Name(), report)
	}
	return errors.Join(err, verdict(ctx, component.Name(), report, total))
}

// component returns the transport that --btl names.
func (c *conformanceRun) component() (btl.Component, error) {
	if c.transport == "" {
		return nil, fmt.Errorf("which transport? give --btl, one of %s", strings.Join(btl.Default.Names(), ", "))
	}
	found, err := btl.Default.Find(c.transport)
	if err != nil {
		return nil, fmt.Errorf("--btl: %w", err)
	}
	return found, nil
}

// known checks the flags before anything runs: the cases and parameters that they name exist,
// and the time is above 0.
func (c *conformanceRun) known(component btl.Component) error {
	var errs []error
	names := make([]string, 0, len(conformance.Cases()))
	for _, one := range conformance.Cases() {
		names = append(names, one.Name)
	}
	for _, name := range c.only {
		if slices.Contains(names, name) {
			continue
		}
		hint := "; --list shows those that there are"
		if near := param.Nearest(name, slices.Values(names)); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		errs = append(errs, fmt.Errorf("--only %s: there is no such case%s", name, hint))
	}
	if c.timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout %v: want a time above 0, such as --timeout 20s", c.timeout))
	}
	r := param.NewRegistry()
	component.Declare(r)
	_, err := r.Resolve(param.Inputs{Settings: c.settings})
	return errors.Join(append(errs, err)...)
}

// verdict is the command's error: what did not hold.
func verdict(ctx context.Context, name string, report conformance.Report, total int) error {
	failed, applied := len(report.Failed()), 0
	for _, r := range report.Results {
		if r.Status != conformance.NotApplicable {
			applied++
		}
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w after %d of %d cases", context.Cause(ctx), len(report.Results), total)
	case failed > 0:
		return fmt.Errorf("%s fails %d of %d cases; --seed %d makes the same frames again", name, failed, len(report.Results), report.Seed)
	case applied == 0:
		return fmt.Errorf("no case applies to %s here: %s", name, report.Results[0].Reason)
	}
	return nil
}

// caseTable shows results as they come. Its first column has the width of the longest name of a
// case. On a terminal the last column is wrapped at the terminal's width.
type caseTable struct {
	out   io.Writer
	width int
	err   error
}

// besideAbout is the width of a row without its first and last column, leastAbout one in which a sentence can be read.
const (
	besideAbout = 20
	leastAbout  = 24
)

// statusWords are what the tables say of a case or a rule.
var statusWords = map[conformance.Status]string{conformance.Passed: "ok", conformance.Failed: "FAILED", conformance.NotApplicable: "–"}

func (t *caseTable) add(r conformance.Result) {
	if t.width == 0 {
		for _, c := range conformance.Cases() {
			t.width = max(t.width, len(c.Name))
		}
		t.row("CASE", "RESULT", "TIME", "ABOUT")
	}
	about := r.About
	if r.Status == conformance.NotApplicable {
		about = r.Reason
	}
	t.row(r.Case, statusWords[r.Status], brief(r.Duration), about)
}

// brief is a duration of a case.
func brief(d time.Duration) string { return d.Round(time.Millisecond).String() }

// rules shows what came of each rule.
func (t *caseTable) rules(report conformance.Report) {
	fmt.Fprintln(t.out)
	t.row("RULE", "RESULT", "TIME", "WORDS, SOURCE AND CASES")
	for _, r := range report.Rules() {
		t.row(r.Name, statusWords[r.Status], brief(r.Duration), r.Text+" "+origin(r))
	}
}

// origin is where the contract has a rule, and the cases that were made for it, in brackets.
func origin(r conformance.RuleResult) string {
	if len(r.Cases) == 0 {
		return "(" + r.Source + ")"
	}
	return fmt.Sprintf("(%s; %s)", r.Source, strings.Join(r.Cases, ", "))
}

func (t *caseTable) row(name, result, took, about string) {
	about = strings.Join(strings.Fields(about), " ") + "\n"
	if file, ok := t.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		about = t.about(about, terminalWidth(file))
	}
	if _, err := fmt.Fprintf(t.out, "%-*s  %-6s  %8s  %s", t.width, name, result, took, about); err != nil {
		t.err = err
	}
}

// about breaks the last column into lines for a terminal. Where that has no room for it beside the others it stands below them.
func (t *caseTable) about(text string, width int) string {
	if width < t.width+besideAbout+leastAbout {
		return "\n" + wrap(text, "  ", width)
	}
	indent := strings.Repeat(" ", t.width+besideAbout)
	return strings.TrimPrefix(wrap(text, indent, width), indent)
}

// close shows the rules, the totals, and which rules were broken, by which cases, with what was
// seen.
func (t *caseTable) close(name string, report conformance.Report) error {
	t.rules(report)
	passed := 0
	for _, r := range report.Results {
		if r.Status == conformance.Passed {
			passed++
		}
	}
	fmt.Fprintf(t.out, "\n%s: %d passed, %d failed, %d not applicable; seed %d\n", name, passed, len(report.Failed()),
		len(report.Results)-passed-len(report.Failed()), report.Seed)
	for _, rule := range conformance.Rules() {
		first := true
		for _, r := range report.Failed() {
			for _, v := range r.Violations {
				if v.Rule != rule.Name {
					continue
				}
				if first {
					fmt.Fprintf(t.out, "\nrule %s: %s\n", rule.Name, rule.Text)
					first = false
				}
				fmt.Fprintf(t.out, "  in %s: %s\n%s", r.Case, v.Detail, v.Stacks)
			}
		}
	}
	return t.err
}

type jsonCase struct {
	Case       string           `json:"case"`
	About      string           `json:"about"`
	Rules      []string         `json:"rules"`
	Status     string           `json:"status"`
	Reason     string           `json:"reason,omitempty"`
	Seconds    float64          `json:"seconds"`
	Violations []jsonCaseBreach `json:"violations,omitempty"`
}

type jsonRule struct {
	Rule    string   `json:"rule"`
	Text    string   `json:"text"`
	Source  string   `json:"source"`
	Status  string   `json:"status"`
	Cases   []string `json:"cases"`
	Seconds float64  `json:"seconds"`
}

// A listedCase and a listedRule are what a report has of them before anything has run, by the same names.
type (
	listedCase struct {
		Case  string   `json:"case"`
		About string   `json:"about"`
		Rules []string `json:"rules"`
	}
	listedRule struct {
		Rule   string `json:"rule"`
		Text   string `json:"text"`
		Source string `json:"source"`
	}
)

func jsonInventory(cases []conformance.Case, rules []conformance.Rule) any {
	var list struct {
		Cases []listedCase `json:"cases"`
		Rules []listedRule `json:"rules"`
	}
	for _, c := range cases {
		list.Cases = append(list.Cases, listedCase{c.Name, c.About, c.Rules})
	}
	for _, r := range rules {
		list.Rules = append(list.Rules, listedRule{r.Name, r.Text, r.Source})
	}
	return list
}

type jsonCaseBreach struct {
	Rule   string `json:"rule"`
	Text   string `json:"text"`
	Detail string `json:"detail"`
}

func jsonReport(name string, report conformance.Report) any {
	all := make([]jsonCase, 0, len(report.Results))
	for _, r := range report.Results {
		one := jsonCase{Case: r.Case, About: r.About, Rules: r.Rules, Status: r.Status.String(), Reason: r.Reason, Seconds: r.Duration.Seconds()}
		for _, v := range r.Violations {
			one.Violations = append(one.Violations, jsonCaseBreach{v.Rule, v.Text, v.Detail})
		}
		all = append(all, one)
	}
	rules := []jsonRule{}
	for _, r := range report.Rules() {
		cases := append([]string{}, r.Cases...) // in JSON an array, even if it is empty
		rules = append(rules, jsonRule{r.Name, r.Text, r.Source, r.Status.String(), cases, r.Duration.Seconds()})
	}
	return struct {
		Transport string     `json:"transport"`
		Seed      uint64     `json:"seed"`
		Cases     []jsonCase `json:"cases"`
		Rules     []jsonRule `json:"rules"`
	}{name, report.Seed, all, rules}
}
