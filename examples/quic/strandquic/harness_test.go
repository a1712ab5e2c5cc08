package strandquic

import (
	"net"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/param"
)

// A pair is two ranks in one process, which share a loop that the test turns.
type pair struct {
	t     testing.TB
	loop  *btltest.Loop
	hosts [2]*btltest.Host
	mods  [2]*module
	ep    btl.Endpoint      // from rank 0 to rank 1
	recv  *btltest.Receiver // its up-calls
}

// newPair opens both. What rank 0 sends and receives goes through wrap.
func newPair(t testing.TB, wrap func(net.PacketConn) net.PacketConn) *pair {
	p := &pair{t: t, loop: new(btltest.Loop)}
	for i := range p.hosts {
		c := Component{}
		if i == 0 {
			c.wrap = func(udp *net.UDPConn) net.PacketConn { return wrap(udp) }
		}
		p.hosts[i] = btltest.NewHost(t, i, 2, c, param.Setting{Name: prefix + "if_include", Text: "127.0.0.1"},
			param.Setting{Name: prefix + "connect_retries", Text: "1"}) // the loop's clock stands still: there would be no other attempt
		p.hosts[i].Clock = p.loop
		p.mods[i] = p.hosts[i].Open().(*module)
	}
	return p
}

// connect makes the endpoint and sends a frame in each of its first lanes.
func (p *pair) connect(lanes int) {
	p.t.Helper()
	peer := p.hosts[1].Peer(p.mods[1])
	paths, err := p.mods[0].Reach(peer)
	if err != nil {
		p.t.Fatal(err)
	}
	p.recv = p.hosts[0].NewReceiver(1)
	if p.ep, err = p.mods[0].Connect(peer, paths[0], p.recv); err != nil {
		p.t.Fatal(err)
	}
	for lane := range lanes {
		p.send(lane, "first")
	}
}

// send waits while the endpoint is busy.
func (p *pair) send(lane int, payload string) {
	p.t.Helper()
	f := &btl.Frame{Header: []byte("h"), Payload: []byte(payload), Size: len(payload)}
	p.loop.Until(p.t, "room", func() bool { return p.recv.Downs > 0 || p.ep.Send(f, lane) != btl.Busy })
}

// until waits for something at either rank. If the endpoint fails before, which makes no other attempt, the error tells more than that it was in vain.
func (p *pair) until(what string, so func() bool) {
	p.t.Helper()
	failed := false
	p.loop.Until(p.t, what, func() bool {
		reached := so()
		failed = !reached && p.recv.Downs > 0
		return reached || failed
	})
	if failed {
		p.t.Fatalf("waited for %s: %v", what, p.recv.Err)
	}
}

// arrived are the payloads of the frames that rank 1 has.
func (p *pair) arrived() (payloads []string) {
	for _, r := range p.hosts[1].Accepted {
		for _, f := range r.Frames {
			payloads = append(payloads, f.Payload)
		}
	}
	return payloads
}
