package job

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// mostHosts is how many hosts are named of those that say the same.
const mostHosts = 3

// A sharedError is what several hosts say alike: the first one's error.
type sharedError struct {
	error
	hosts []string
}

func (e *sharedError) Error() string {
	text := "hosts " + strings.Join(e.hosts[:min(len(e.hosts), mostHosts)], ", ")
	if more := len(e.hosts) - mostHosts; more > 0 {
		text += fmt.Sprintf(" and %d more (%d in all)", more, len(e.hosts))
	}
	return text + ", each alike: " + e.error.Error()
}

func (e *sharedError) Unwrap() error { return e.error }

// byChance are the names that are made anew for each host, of what is brought there.
var byChance = regexp.MustCompile(`strand-(program-[0-9]+|[A-Z2-7]{26})`)

// joinErrors joins errors of hosts. Those that differ in the host's name only, or in names made by chance, are one: 64 hosts
// with the same fault would fill the screen.
func joinErrors(hosts []string, errs []error) error {
	type group struct {
		first error
		hosts []string
	}
	var order []*group
	groups := map[string]*group{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		name := regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(hosts[i]) + `($|[^\w.-])`)
		key := byChance.ReplaceAllString(name.ReplaceAllString(err.Error(), "${1}\x00${2}"), "\x00")
		g := groups[key]
		if g == nil {
			g = &group{first: err}
			groups[key] = g
			order = append(order, g)
		}
		g.hosts = append(g.hosts, hosts[i])
	}
	all := make([]error, 0, len(order))
	for _, g := range order {
		if len(g.hosts) == 1 {
			all = append(all, g.first)
			continue
		}
		all = append(all, &sharedError{g.first, g.hosts})
	}
	return errors.Join(all...)
}
