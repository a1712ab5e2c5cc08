package conformance

import "slices"

// A testCase is one scenario. All rules hold in all of them; about says which
// ones the scenario puts to the test.
type testCase struct {
	name  string
	about string
	run   func(*trial)
}

// cases is the suite, simple things first: what fails early explains what fails
// later.
var cases = slices.Concat(
	attributeCases,
	frameCases,
	promptCases,
	flowCases,
	landingCases,
	connectCases,
	closeCases,
	failureCases,
	wireCases,
	trafficCases,
	leakCases,
)

// A Case is one of the suite's: its name, as [Only] takes it, and what it is about.
type Case struct{ Name, About string }

// Cases are all of them, in the order in which they run.
func Cases() []Case {
	all := make([]Case, len(cases))
	for i, c := range cases {
		all[i] = Case{c.name, c.about}
	}
	return all
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
