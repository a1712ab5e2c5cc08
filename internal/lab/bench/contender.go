package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
)

// Names of what takes part in a comparison.
const (
	strandName = "strand"
	rawName    = "raw"
	pionName   = "pion"
)

// A contender takes part in a comparison. Several of one name are variants of
// the same thing, of which the best counts.
type contender struct {
	name    string
	variant string
	about   string // for people
	start   func(context.Context) (pair, error)
}

// Peers lists what Strand can be compared with.
func Peers() []string {
	names := []string{rawName, pionName}
	for i := range implementations {
		names = append(names, implementations[i].name)
	}
	return names
}

// contenders returns who takes part, Strand first. Programs are compiled into
// the directory.
func (c *Comparison) contenders(ctx context.Context, dir string) ([]contender, error) {
	all := []contender{{name: strandName, start: c.localPair(strandName, memberSpec{Settings: c.Settings})}}
	for i, name := range c.Against {
		if slices.Contains(c.Against[:i], name) {
			return nil, fmt.Errorf("--against %s: %q stands there twice", strings.Join(c.Against, ","), name)
		}
		some, err := c.peer(ctx, name, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (c *Comparison) peer(ctx context.Context, name, dir string) ([]contender, error) {
	switch name {
	case rawName:
		return c.rawContenders()
	case pionName:
		o := pionOptions(c.Params)
		return []contender{{name: pionName, about: o.describe(), start: c.localPair(pionName, memberSpec{Pion: &o})}}, nil
	}
	for i := range implementations {
		if m := implementations[i].within(c.Memory); m.name == name {
			one, err := m.contender(ctx, c.Workload, dir)
			return []contender{one}, err
		}
	}
	return nil, fmt.Errorf("--against %q: want one or more of %s, separated by commas", name, strings.Join(Peers(), ", "))
}

// localPair starts two processes of this program as a job.
func (c *Comparison) localPair(name string, spec memberSpec) func(context.Context) (pair, error) {
	launch := func(ctx context.Context, socket string, output *lines.Beginning) error {
		spec.Socket = socket
		return local.Run(ctx, local.Config{
			Ranks: 2, Program: c.Program, Args: append(slices.Clone(c.Arguments), spec.argument()),
			Stdout: output, Stderr: output,
		})
	}
	return func(ctx context.Context) (pair, error) { return startPair(ctx, name, launch) }
}

// rawContenders is a pair of raw sockets for each congestion control that could
// be said to be the fair one: Strand's own and the kernel's default.
func (c *Comparison) rawContenders() ([]contender, error) {
	options, err := socketOptions(c.Params)
	if err != nil {
		return nil, err
	}
	var all []contender
	for _, o := range options {
		all = append(all, contender{name: rawName, variant: o.Congestion,
			about: o.describe(), start: c.localPair(rawName, memberSpec{Raw: &o})})
	}
	return all, nil
}

// socketOptions returns the options that Strand's TCP would give its sockets on
// the loopback, and the same with the kernel's own congestion control.
func socketOptions(params *param.Values) ([]SocketOptions, error) {
	own := SocketOptions{
		SendBuffer:     int(params.Size("btl_tcp_sndbuf")),
		ReceiveBuffer:  int(params.Size("btl_tcp_rcvbuf")),
		NagleAlgorithm: !params.Bool("btl_tcp_nodelay"),
	}
	preset, err := kernelCongestion()
	if err != nil {
		return nil, err
	}
	choice := params.String("btl_tcp_congestion")
	switch choice {
	case "default":
		choice = preset
	case "auto":
		choice = firstAllowed("cubic", "reno")
	}
	options := []SocketOptions{own}
	options[0].Congestion = choice
	if preset != choice {
		own.Congestion = preset
		options = append(options, own)
	}
	return options, nil
}

// firstAllowed returns the first congestion control that this process may use,
// or "" for the kernel's default.
func firstAllowed(names ...string) string {
	fd, err := rawio.Stream(netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
	if err != nil {
		return ""
	}
	defer rawio.Close(fd)
	for _, name := range names {
		if rawio.SetCongestion(fd, name) == nil {
			return name
		}
	}
	return ""
}

// congestionFile holds the name of the default congestion control on Linux.
const congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"

// kernelCongestion returns the name of the kernel's default congestion control,
// or "" on systems that do not tell.
func kernelCongestion() (string, error) {
	text, err := os.ReadFile(congestionFile)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// describe puts the options into words.
func (s SocketOptions) describe() string {
	words := []string{"TCP_NODELAY"}
	if s.NagleAlgorithm {
		words = nil
	}
	congestion := s.Congestion
	if congestion == "" {
		congestion = "the kernel's"
	}
	words = append(words, "congestion control "+congestion)
	if s.SendBuffer > 0 {
		words = append(words, fmt.Sprintf("send buffer %d", s.SendBuffer))
	}
	if s.ReceiveBuffer > 0 {
		words = append(words, fmt.Sprintf("receive buffer %d", s.ReceiveBuffer))
	}
	return "two spinning sockets, " + strings.Join(words, ", ")
}
