package programs

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/chaos"
)

func openRails(r *rand.Rand) Setup       { return railsOf(r, "user") }
func openKernelRails(r *rand.Rand) Setup { return railsOf(r, "kernel") }

// railsOf joins the ranks by several networks, each with limits of its own: some serve
// together, others stand by. Those that are chaos's fail now and then, and come back.
func railsOf(r *rand.Rand, stack string) Setup {
	s := Setup{Transports: new(btl.Registry), Longest: 200_000}
	d := &rails{Rand: r, Setup: &s, patient: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		d.steady("tcp", "btl_tcp_max_frag")
	}
	if r.IntN(4) == 0 {
		d.steady("sctp", "btl_sctp_max_frame")
		s.Settings = append(s.Settings, [2]string{"btl_sctp_stack", stack})
	}
	if r.IntN(4) == 0 {
		d.steady("udp", "btl_udp_max_frag")
	}
	if runtime.GOOS == "linux" && r.IntN(4) == 0 {
		d.steady("sm", "btl_sm_max_send_size")
	}
	for range max(0, 2-s.Steady) + r.IntN(2) {
		d.stormy()
	}
	s.EarlyStorms = d.patient || s.Steady > 0
	s.Transports.Register(btl.Default.Lookup("self"))
	s.Settings = append(s.Settings,
		[2]string{"btl", strings.Join(append(d.names, "self"), ",")},
		[2]string{"pml_rail_timeout", pick(r, "100ms", "300ms")})
	s.About = strings.Join(d.about, "; ")
	return s
}

// rails draws the networks of a setup.
type rails struct {
	*rand.Rand
	*Setup
	patient      bool // all that fail
	names, about []string
}

// steady adds a network that does not fail.
func (d *rails) steady(name, maxFrame string) {
	frame := pick(d.Rand, 1024, 5000, 65536)
	d.Transports.Register(btl.Default.Lookup(name))
	d.Sizes = append(d.Sizes, frame)
	if name != "sm" {
		d.Settings = append(d.Settings, [2]string{"btl_" + name + "_if_include", "127.0.0.0/8"})
	}
	d.Settings = append(d.Settings,
		[2]string{maxFrame, fmt.Sprint(frame)},
		[2]string{"btl_" + name + "_exclusivity", pick(d.Rand, "-1", "100", "100", "200")})
	d.names = append(d.names, name)
	d.Steady++
}

// stormy adds one that does.
func (d *rails) stormy() {
	c := chaos.Random(d.Uint64())
	c.Name = fmt.Sprintf("chaos%c", 'a'+len(d.Stormy))
	c.Local, c.Self, c.Patient = false, false, d.patient
	c.MaxFrame = pick(d.Rand, 1<<10, 3000, 8<<10, 32<<10, 64<<10)
	c.BestFrame = min(c.BestFrame, c.MaxFrame)
	c.Chunk = max(c.Chunk, c.MaxFrame/16)
	c.Delay, c.Cut = min(c.Delay, 16), pick(d.Rand, 0, 0, 300, 3000)
	c.Exclusivity = pick(d.Rand, 100, 100, 200) // tcp's is 100
	network := chaos.New(c)
	d.Transports.Register(network)
	d.Stormy = append(d.Stormy, network)
	d.Sizes = append(d.Sizes, sizesOf(c)...)
	d.names, d.about = append(d.names, c.Name), append(d.about, c.String())
}
