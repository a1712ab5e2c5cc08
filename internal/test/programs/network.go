package programs

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/chaos"
)

// A Network is what the ranks of a session are connected by.
type Network struct {
	Name string
	// MinRanks and MaxRanks bound the number of ranks.
	MinRanks, MaxRanks int
	// Slow is by how much fewer programs there are over it, since they take longer: they
	// meet pauses of real time.
	Slow int
	// Open draws a network's limits. It is called once for each session.
	Open func(r *rand.Rand) Setup
}

// A Setup is a network as one session uses it.
type Setup struct {
	// Transports to use.
	Transports *btl.Registry
	// Settings of parameters, name and value.
	Settings [][2]string
	// Sizes of messages, in bytes, around which the network changes what it does.
	Sizes []int
	// Longest message, in bytes. The network takes a longer one in so many steps that a session
	// would not end in time on a machine that does other things too. 0: any.
	Longest int
	// Lanes is how many a process must have at the least: one for each stream or connection.
	Lanes int
	// Stormy are networks that fail and come back while the programs run.
	Stormy []*chaos.Component
	// Steady is how many more there are, none of which fails.
	Steady int
	// EarlyStorms says that networks may fail before the ranks know each other.
	EarlyStorms bool
	// Mad is the network over which the last rank sends nonsense, after the start.
	Mad *chaos.Component
	// About says how the network was set up, for people.
	About string
}

// Networks are those that come with Strand, and chaos.
func Networks() []Network {
	all := []Network{
		{Name: "self", MinRanks: 1, MaxRanks: 1, Open: openSelf},
		{Name: "tcp", MinRanks: 2, MaxRanks: 5, Open: openTCP},
		{Name: "tcp-encrypted", MinRanks: 2, MaxRanks: 5, Open: openEncryptedTCP},
		{Name: "sctp", MinRanks: 2, MaxRanks: 4, Open: openUserSCTP},
		{Name: "udp", MinRanks: 2, MaxRanks: 5, Open: openUDP},
		{Name: "chaos", MinRanks: 1, MaxRanks: 5, Open: openChaos},
		{Name: "rails", MinRanks: 2, MaxRanks: 4, Slow: 20, Open: openRails},
		{Name: "mad", MinRanks: 3, MaxRanks: 5, Slow: 10, Open: openMad},
	}
	if runtime.GOOS == "linux" {
		all = append(all, Network{Name: "sm", MinRanks: 2, MaxRanks: 5, Open: openSM})
	}
	return all
}

// KernelSCTP are those with SCTP by the kernel, for systems that have it.
func KernelSCTP() []Network {
	return []Network{
		{Name: "kernel-sctp", MinRanks: 2, MaxRanks: 4, Open: openKernelSCTP},
		{Name: "kernel-rails", MinRanks: 2, MaxRanks: 3, Slow: 10, Open: openKernelRails},
	}
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func openSelf(r *rand.Rand) Setup {
	eager := pick(r, 0, 1, 100, 1024, 1024)
	return Setup{
		Transports: btl.Default, Sizes: []int{eager},
		Settings: [][2]string{
			{"btl", "self"},
			{"btl_self_eager_limit", fmt.Sprint(eager)},
			{"btl_self_queue", fmt.Sprint(pick(r, 1, 2, 256))},
		},
	}
}

func openTCP(r *rand.Rand) Setup {
	eager, frame := pick(r, 0, 100, 1000, 4096, 65536), pick(r, 1024, 1024, 5000, 65536, 1<<20)
	links := pick(r, 1, 1, 3)
	s := Setup{
		Transports: btl.Default, Sizes: []int{eager, frame, 2*frame + 100, 3 * frame}, Lanes: links,
		Settings: [][2]string{
			{"btl", "tcp,self"},
			{"btl_tcp_if_include", "127.0.0.0/8"},
			{"btl_tcp_max_frag", fmt.Sprint(frame)},
			{"btl_tcp_links", fmt.Sprint(links)},
		},
	}
	s.Settings = append(s.Settings, eagerLimit(r, "btl_tcp_eager_limit", eager)...)
	if r.IntN(3) == 0 {
		// Less room at the receiver than a segment of the loopback interface has
		// makes each wait for a timer of the kernel's.
		s.Settings = append(s.Settings, [2]string{"btl_tcp_sndbuf", "8K"})
	}
	return s
}

func openSM(r *rand.Rand) Setup {
	eager, frame := pick(r, 0, 100, 1000, 4096, 65536), pick(r, 1024, 1024, 5000, 65536, 1<<20)
	s := Setup{
		Transports: btl.Default, Sizes: []int{eager, frame, 2*frame + 100, 3 * frame, 8 << 10, 32 << 10},
		Settings: [][2]string{
			{"btl", "sm,self"},
			{"btl_sm_max_send_size", fmt.Sprint(frame)},
			{"btl_sm_single_copy_mechanism", pick(r, "cma", "cma", "none")},
			{"coll_lend", pick(r, "true", "true", "false")},
			{"btl_sm_fbox_size", pick(r, "32K", "32K", "128K", "1M")},
		},
	}
	s.Settings = append(s.Settings, eagerLimit(r, "btl_sm_eager_limit", eager)...)
	return s
}

func openUDP(r *rand.Rand) Setup {
	eager, frame := pick(r, 0, 100, 1000, 4096, 65536), pick(r, 1024, 1024, 5000, 65536, 1<<20)
	packet := pick(r, 600, 1400, 9000, 65000)
	s := Setup{
		Transports: btl.Default, Sizes: []int{eager, frame, 2*frame + 100, 3 * frame, packet, packet - 60},
		Settings: [][2]string{
			{"btl", "udp,self"},
			{"btl_udp_if_include", "127.0.0.0/8"},
			{"btl_udp_packet", fmt.Sprint(packet)},
			{"btl_udp_max_frag", fmt.Sprint(frame)},
			{"btl_udp_protect", pick(r, "none", "none", "authenticated", "encrypted")},
			{"btl_udp_congestion", pick(r, "cubic", "reno")},
			{"btl_udp_rcvbuf", pick(r, "4M", "4M", "8K")}, // so little that packets are lost
		},
	}
	s.Settings = append(s.Settings, eagerLimit(r, "btl_udp_eager_limit", eager)...)
	return s
}

func openEncryptedTCP(r *rand.Rand) Setup {
	s := openTCP(r)
	s.Settings = append(s.Settings, [2]string{"btl_tcp_encrypt", "true"})
	return s
}

// eagerLimit sets a module's limit, beyond which nothing is sent at once, or leaves that
// to the message layer.
func eagerLimit(r *rand.Rand, name string, limit int) [][2]string {
	if r.IntN(2) == 0 {
		return nil
	}
	return [][2]string{{name, fmt.Sprint(limit)}}
}

func openUserSCTP(r *rand.Rand) Setup {
	return openSCTP(r, "user",
		"btl_sctp_interleave", pick(r, "on", "off"),
		"btl_sctp_scheduler", pick(r, "auto", "fcfs", "rr", "fc", "wfq", "prio"),
		"btl_sctp_cmt", pick(r, "false", "true"),
		"btl_sctp_zero_checksum", pick(r, "true", "false"),
		"btl_sctp_congestion", pick(r, "reno", "cubic"),
		"btl_sctp_mtu_loopback", fmt.Sprint(pick(r, 1200, 8192)))
}

func openKernelSCTP(r *rand.Rand) Setup {
	return openSCTP(r, "kernel",
		"btl_sctp_sndbuf", pick(r, "0", "200K"),
		"btl_sctp_rto_min", "100ms")
}

func openSCTP(r *rand.Rand, stack string, more ...string) Setup {
	eager, frame := pick(r, 0, 100, 1000, 4096, 65536), pick(r, 1024, 1024, 5000, 65536, 1<<20)
	streams := pick(r, 1, 2, 10)
	s := Setup{
		Transports: btl.Default, Sizes: []int{eager, frame, 2*frame + 100}, Lanes: streams,
		Settings: [][2]string{
			{"btl", "sctp,self"},
			{"btl_sctp_stack", stack},
			{"btl_sctp_if_include", "127.0.0.0/8"},
			{"btl_sctp_max_frame", fmt.Sprint(frame)},
			{"btl_sctp_streams", fmt.Sprint(streams)},
			{"btl_sctp_outstanding", fmt.Sprint(pick(r, 128<<10, 1<<20))},
		},
	}
	s.Settings = append(s.Settings, eagerLimit(r, "btl_sctp_eager_limit", eager)...)
	for ; len(more) > 0; more = more[2:] {
		s.Settings = append(s.Settings, [2]string{more[0], more[1]})
	}
	return s
}

func openChaos(r *rand.Rand) Setup {
	c := chaos.Random(r.Uint64())
	registry := new(btl.Registry)
	registry.Register(chaos.New(c))
	if !c.Self {
		registry.Register(btl.Default.Lookup("self"))
	}
	return Setup{Transports: registry, About: c.String(), Longest: longestOver(c), Sizes: sizesOf(c)}
}

func openMad(r *rand.Rand) Setup {
	c := chaos.Random(r.Uint64())
	c.Local, c.Self, c.Cut = false, false, 0
	c.Window, c.Refuse = pick(r, 1, 2, 8, 64), pick(r, 0, 2, 20)
	network, registry := chaos.New(c), new(btl.Registry)
	registry.Register(network)
	registry.Register(btl.Default.Lookup("self"))
	return Setup{Transports: registry, Mad: network, About: c.String(), Longest: longestOver(c), Sizes: sizesOf(c)}
}

func longestOver(c chaos.Config) int {
	switch {
	case c.Chunk == 1:
		return 4_000
	case c.Chunk < 1000 || c.MaxFrame <= 1024 && c.Cut > 0:
		return 20_000
	}
	return 0
}

func sizesOf(c chaos.Config) []int {
	return []int{c.EagerLimit, c.MaxFrame, c.BestFrame, 2*c.MaxFrame + 100, 3 * max(c.BestFrame, 1), c.Chunk}
}

func (s Setup) String() string {
	var b strings.Builder
	for _, set := range s.Settings {
		fmt.Fprintf(&b, "%s=%s ", set[0], set[1])
	}
	return b.String() + s.About
}
