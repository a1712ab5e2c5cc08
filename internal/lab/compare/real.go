package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/machine"
)

// Hosts is a real network. Rank r is on host r, counted round and round.
type Hosts struct {
	Hosts    []remote.Host
	Machines []machine.Machine // of the hosts

	// Build is what strand on all hosts has to be.
	Build string
}

// Reach finds out whether each host can be reached and has the program, of the same build. It
// also asks what machine each host is.
func (h *Hosts) Reach(ctx context.Context) error {
	h.Machines = make([]machine.Machine, len(h.Hosts))
	errs := make([]error, len(h.Hosts))
	var asking sync.WaitGroup
	for i, host := range h.Hosts {
		asking.Go(func() {
			line, err := remote.Connect(ctx, host, h.Build, nil)
			if errs[i] = err; err == nil {
				h.Machines[i] = line.Peer.Machine
				errs[i] = line.Leave()
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// CheckHosts returns what is wrong with names of hosts.
func CheckHosts(names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		err := remote.CheckName(name)
		switch {
		case strings.Contains(name, ","):
			return fmt.Errorf("%s: want one host; for several, give --host several times", name)
		case err != nil:
			return err
		case seen[name]:
			return fmt.Errorf("%s is there twice: --ranks says how many ranks there are, on the hosts in turn", name)
		}
		seen[name] = true
	}
	if len(names) < 2 {
		return fmt.Errorf("%s alone: want two hosts or more; --loopback compares on this one", strings.Join(names, ""))
	}
	return nil
}

// Links implements [Ground].
func (h Hosts) Links() results.Links {
	names := make([]string, 0, len(h.Hosts))
	for _, host := range h.Hosts {
		names = append(names, host.Name)
	}
	return results.Links{Kind: results.Real, Why: "between " + strings.Join(names, ", ")}
}

// Offer implements [Ground]: what the network does is what it does.
func (Hosts) Offer(workload string, _ emulate.Link) (*emulate.Link, string) {
	if workload == string(results.HOL) {
		return nil, "it takes the time between two ranks by one clock: hosts have one each"
	}
	return nil, ""
}

// Facts implements [Ground].
func (Hosts) Facts(int) map[string]string {
	return map[string]string{results.FactMTU: "the network's", results.FactOffloads: "the hosts'"}
}

// Open implements [Ground].
func (h Hosts) Open(c Conditions) (Site, error) { return hostsSite{h, c.Ranks}, nil }

// hostsSite is the place of one run.
type hostsSite struct {
	Hosts
	ranks int
}

// Place implements [Site]: rank r is on host r, counted round and round.
func (s hostsSite) Place(c *job.Config) {
	hosts := s.Hosts.Hosts
	for i, host := range hosts[:min(len(hosts), s.ranks)] {
		share := job.Share{Host: host}
		for rank := i; rank < s.ranks; rank += len(hosts) {
			share.Ranks = append(share.Ranks, rank)
		}
		c.Elsewhere = append(c.Elsewhere, share)
	}
	c.Build, c.Program = s.Build, hosts[0].Program
}

func (hostsSite) Close() (*results.Network, error) { return nil, nil }
