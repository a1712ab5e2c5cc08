package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
)

// Names of what takes part in a comparison.
const (
	strandName = "strand"
	rawName    = "raw"
	rawUDPName = "raw-udp"
)

// A Contender takes part in a comparison. Several of one name are variants of
// the same thing, of which the best counts.
type Contender struct {
	Name    string
	Variant string
	About   string // for people
	start   func(ctx context.Context, ranks int) (Job, error)
}

// Start starts so many processes of it.
func (c *Contender) Start(ctx context.Context, ranks int) (Job, error) { return c.start(ctx, ranks) }

// Peers lists what Strand can be compared with.
func Peers() []string {
	names := []string{rawName, rawUDPName}
	for i := range implementations {
		names = append(names, implementations[i].name)
	}
	return names
}

// contenders returns who takes part, Strand first. Programs are compiled into
// the directory.
func (s *Setup) contenders(ctx context.Context, w Workload, dir string) ([]Contender, error) {
	all := []Contender{s.Strand()}
	for i, name := range s.Against {
		if slices.Contains(s.Against[:i], name) {
			return nil, fmt.Errorf("--against %s: %q stands there twice", strings.Join(s.Against, ","), name)
		}
		some, err := s.Peer(ctx, name, w, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Strand returns Strand itself.
func (s *Setup) Strand() Contender {
	return Contender{Name: strandName, start: s.localJob(strandName, memberSpec{Settings: s.Settings})}
}

// CanPlay says why a peer can not play a workload, if it can not.
func CanPlay(name string, w Workload) error {
	switch {
	case w == Coll && (name == rawName || name == rawUDPName):
		return fmt.Errorf("--against %s: it has no collective calls; compare them with openmpi or mpich", name)
	case name == rawUDPName && w != PingPong:
		return fmt.Errorf("--against %s: it sends nothing again, so it only plays pingpong; compare %s with others", rawUDPName, w)
	}
	return nil
}

// Peer returns the variants of a peer for a workload. Programs are compiled into the directory.
func (s *Setup) Peer(ctx context.Context, name string, w Workload, dir string) ([]Contender, error) {
	if err := CanPlay(name, w); err != nil {
		return nil, err
	}
	switch name {
	case rawName:
		return s.rawContenders()
	case rawUDPName:
		return []Contender{{Name: rawUDPName, About: rawUDPAbout, start: s.localJob(rawUDPName, memberSpec{RawUDP: true})}}, nil
	}
	for i := range implementations {
		if m := &implementations[i]; m.name == name {
			return m.contenders(ctx, s.Memory, w, dir)
		}
	}
	return nil, fmt.Errorf("--against %q: want one or more of %s, separated by commas", name, strings.Join(Peers(), ", "))
}

// localJob starts processes of this program.
func (s *Setup) localJob(name string, spec memberSpec) func(context.Context, int) (Job, error) {
	launch := func(ctx context.Context, ranks int, socket string, output *lines.Beginning) error {
		own := spec
		own.Socket = socket
		return job.Run(ctx, job.Config{
			Ranks: ranks, Program: s.Program, Args: append(slices.Clone(s.Arguments), own.argument()),
			Stdout: output, Stderr: output,
		})
	}
	return func(ctx context.Context, ranks int) (Job, error) { return startJob(ctx, s.Dir, name, ranks, launch) }
}

// rawContenders is a pair of raw sockets for each congestion control that could
// be said to be the fair one: Strand's own and the kernel's default.
func (s *Setup) rawContenders() ([]Contender, error) {
	options, err := socketOptions(s.Params)
	if err != nil {
		return nil, err
	}
	var all []Contender
	for _, o := range options {
		all = append(all, Contender{Name: rawName, Variant: o.Congestion,
			About: o.describe(), start: s.localJob(rawName, memberSpec{Raw: &o})})
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

// KernelCongestion returns the name of the kernel's default congestion control, or "" where that is
// not known.
func KernelCongestion() string {
	name, err := kernelCongestion()
	if err != nil {
		return ""
	}
	return name
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
