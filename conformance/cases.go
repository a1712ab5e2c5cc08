package conformance

import "slices"

// A testCase is one scenario. All rules hold in all of them; rules are those that it is made
// to put to the test.
type testCase struct {
	name  string
	about string
	run   func(*trial)
	rules []Rule
}

// on lists the rules of a case.
func on(rules ...Rule) []Rule { return rules }

// cases is the suite, simple things first: what fails early explains what fails
// later.
var cases = slices.Concat(
	attributeCases,
	frameCases,
	promptCases,
	flowCases,
	keptCases,
	landingCases,
	moveCases,
	connectCases,
	closeCases,
	failureCases,
	wireCases,
	trafficCases,
	leakCases,
)

// A Case is one of the suite's: its name, as [Only] takes it, what it is about, and the names
// of the rules that it is made to put to the test. It holds all others too.
type Case struct {
	Name, About string
	Rules       []string
}

// Cases are all of them, in the order in which they run.
func Cases() []Case {
	all := make([]Case, len(cases))
	for i, c := range cases {
		all[i] = Case{c.name, c.about, c.ruleNames()}
	}
	return all
}

func (c testCase) ruleNames() []string {
	names := make([]string, len(c.rules))
	for i, r := range c.rules {
		names[i] = r.Name
	}
	return names
}

func selected(o options) []testCase {
	if len(o.only) == 0 {
		return cases
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			panic("conformance: Only: there is no case " + name)
		}
	}
	return slices.DeleteFunc(slices.Clone(cases), func(c testCase) bool { return !slices.Contains(o.only, c.name) })
}
