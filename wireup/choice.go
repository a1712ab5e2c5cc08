package wireup

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/strandmp/strand/reach"
)

// A Choice is which of the host's networks the user wants to be used.
type Choice struct {
	// Include and Exclude are lists of interface names, patterns of them, addresses
	// or subnets. At most one of the two lists is given.
	Include, Exclude []string
	// MaxInterfaces is how many are used at most, besides the loopback; 0 means all.
	MaxInterfaces int
	// DisableFamily is "4", "6" or "none".
	DisableFamily string
	// IncludeName is the parameter that Include is from.
	IncludeName string
	// Where the values come from, for messages: "btl_tcp_if_include=eth0 from …".
	IncludeWhere, ExcludeWhere, FamilyWhere string
	// Warn is told of addresses that there is no room for; it may be nil.
	Warn func(error)
	// Unknown is told of each entry of a list that fits nothing here; the entry is
	// then ignored. If Unknown is nil such an entry is an error, which names the parameter
	// UnknownName that has it ignored, if that is given.
	Unknown     func(error)
	UnknownName string
}

// Select applies the choice to the addresses of the system.
func (c *Choice) Select(all []reach.Address) ([]reach.Address, error) {
	if len(c.Include) > 0 && len(c.Exclude) > 0 {
		return nil, fmt.Errorf("%s and %s exclude each other: give one of them, the other is left empty",
			c.IncludeWhere, c.ExcludeWhere)
	}
	chosen, err := all, error(nil)
	switch {
	case len(c.Include) > 0:
		chosen, err = c.matching(all, c.Include, c.IncludeWhere, true)
	case len(c.Exclude) > 0:
		chosen, err = c.matching(all, c.Exclude, c.ExcludeWhere, false)
	}
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && len(all) > 0 {
		where := c.ExcludeWhere
		if len(c.Include) > 0 {
			where = c.IncludeWhere
		}
		return nil, fmt.Errorf("%s leaves no network to use; there are %s", where, Describe(all))
	}
	if chosen, err = c.withoutFamily(chosen); err != nil {
		return nil, err
	}
	fit, left := Fit(limitInterfaces(chosen, c.MaxInterfaces))
	if len(left) > 0 && c.Warn != nil {
		c.Warn(leftOut(fit, left, c.IncludeName))
	}
	return fit, nil
}

// withoutFamily leaves out the family that the user does not want.
func (c *Choice) withoutFamily(addrs []reach.Address) ([]reach.Address, error) {
	if c.DisableFamily == "none" {
		return addrs, nil
	}
	unwanted := func(a reach.Address) bool { return a.Addr().Is4() == (c.DisableFamily == "4") }
	left := slices.DeleteFunc(slices.Clone(addrs), unwanted)
	if len(left) == 0 && len(addrs) > 0 {
		return nil, fmt.Errorf("%s leaves no address to use; there are %s", c.FamilyWhere, Describe(addrs))
	}
	return left, nil
}

// matching returns the addresses that fit one of the patterns or, without keep,
// those that fit none.
func (c *Choice) matching(all []reach.Address, patterns []string, where string, keep bool) ([]reach.Address, error) {
	fits := make([]bool, len(all))
	for _, p := range patterns {
		match, err := parsePattern(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		found := false
		for i, a := range all {
			if match(a) {
				fits[i], found = true, true
			}
		}
		if found {
			continue
		}
		err = fmt.Errorf("%s: no interface that is up fits %q; there are %s", where, p, Describe(all))
		switch {
		case c.Unknown != nil:
			c.Unknown(err)
		case c.UnknownName != "":
			return nil, fmt.Errorf("%w (where hosts differ, %s=warn passes over it)", err, c.UnknownName)
		default:
			return nil, err
		}
	}
	var chosen []reach.Address
	for i, a := range all {
		if fits[i] == keep {
			chosen = append(chosen, a)
		}
	}
	return chosen, nil
}

// parsePattern reads an interface name, a pattern of names, an address or a
// subnet.
func parsePattern(p string) (func(reach.Address) bool, error) {
	if strings.Contains(p, "/") {
		subnet, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an interface nor a subnet such as 10.8.0.0/16 or fd00:8::/64", p)
		}
		subnet = subnet.Masked()
		return func(a reach.Address) bool { return subnet.Contains(a.Addr()) }, nil
	}
	if ip, err := netip.ParseAddr(p); err == nil {
		ip = ip.Unmap()
		return func(a reach.Address) bool { return a.Addr() == ip || Zoned(a) == ip }, nil
	}
	if _, err := path.Match(p, ""); err != nil {
		return nil, fmt.Errorf("%q is not a valid pattern of interface names: %w", p, err)
	}
	return func(a reach.Address) bool { ok, _ := path.Match(p, a.Interface); return ok }, nil
}

// limitInterfaces keeps the addresses of the loopback and of the n interfaces
// that promise most; 0 keeps all.
func limitInterfaces(addrs []reach.Address, n int) []reach.Address {
	if n == 0 {
		return addrs
	}
	kept := make(map[int]bool) // by index
	for _, i := range byPromise(addrs) {
		if a := addrs[i]; !a.Addr().IsLoopback() && len(kept) < n {
			kept[a.Index] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(addrs), func(a reach.Address) bool {
		return !a.Addr().IsLoopback() && !kept[a.Index]
	})
}

// Describe lists addresses for a message: "lo 127.0.0.1/8, eth0 10.8.47.1/24". Of many
// it names the first.
func Describe(all []reach.Address) string {
	const most = 16
	if len(all) == 0 {
		return "none"
	}
	var parts []string
	for _, a := range all[:min(len(all), most)] {
		parts = append(parts, a.Interface+" "+a.Prefix.String())
	}
	text := strings.Join(parts, ", ")
	if len(all) > most {
		text += fmt.Sprintf(" and %d others", len(all)-most)
	}
	return text
}
