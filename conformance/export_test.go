package conformance

// Missing is what RunRegistered complains of.
var Missing = missing

// RuleNames returns the names of all rules.
func RuleNames() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}
