package sm

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/borrowing"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// module is shared memory with the other ranks of this host.
type module struct {
	host btl.Host
	loop btl.Loop
	cfg  config
	attr btl.Attr

	wire       *wireup.Manager // sets up the connections
	name       string          // of our sockets
	uid        int             // whose this process was when it opened them
	beacon     int             // a datagram socket: peers ask the kernel whether its name is here
	listener   *listener
	pipes      []*pipe // of all connections
	scratch    [wireup.MaxMessage]byte
	mark       borrowing.Mark // peers that read our memory find out by it whose memory it is
	bounce     []byte         // frames that are lent, on their way to a landing place in pieces
	unreadable bool           // no peer's memory can be read
	place      uint64         // on which processor this rank is, as peers are told
	waits      bool           // it waits there for long
	meeter     btl.Meeter     // the loop, if it is one
	crowded    bool           // the ranks of this host outnumber its processors
	again      again
	closed     bool
}

var (
	_ wireup.Transport = (*module)(nil)
	_ btl.Dozer        = (*module)(nil)
)

// retries is how many attempts to connect may fail in a row. Within a host there is little to
// hope for: the second fails as the first does.
const retries = 2

// open makes the module and its sockets.
func open(h btl.Host) ([]btl.Module, error) {
	cfg := readConfig(h.Params(), h.Size())
	m := &module{host: h, loop: h.Loop(), cfg: cfg, attr: cfg.attributes(), beacon: -1}
	m.wire = wireup.NewManager(h, m, wireup.Config{
		Name: "sm", Prefix: prefix,
		Retries: retries, ConnectTimeout: cfg.timeout, HandshakeTimeout: cfg.timeout,
		Strangers: strangersAllowed(),
		MaxFrame:  cfg.maxFrame, FrameLimit: maxFrameLimit, Own: []byte{ours, 0},
	})
	m.uid, m.mark = os.Geteuid(), borrowing.NewMark()
	m.meeter, _ = m.loop.(btl.Meeter)
	if census, ok := m.loop.(btl.Census); ok {
		m.crowded = census.Crowded()
	}
	if h.Size() > 1 {
		if err := m.try(); err != nil {
			return nil, &btl.UnavailableError{Component: "sm", Reason: err.Error(), Remedy: remedyOf(err)}
		}
		if err := m.listen(); err != nil {
			return nil, &btl.UnavailableError{Component: "sm", Reason: err.Error(), Remedy: remedyOf(err)}
		}
	}
	return []btl.Module{m}, nil
}

const (
	// mostStrangers bounds the connections that have not proved themselves. They are of this user's
	// processes. All ranks of a host may connect to one at the same time, and it has to ask the launcher for the key of each.
	mostStrangers = 4096
	// strangersPerFile: they take at most one in so many of the descriptors that the process may have.
	strangersPerFile = 4
)

// strangersAllowed is how many strangers a process bears at a time.
func strangersAllowed() int {
	if limit := openfiles.Limit(); limit > 0 {
		return min(mostStrangers, max(limit/strangersPerFile, 1))
	}
	return mostStrangers
}

// maxFrameLimit bounds what a peer may announce, and btl_sm_max_send_size.
const maxFrameLimit = 1 << 30

// try makes a segment and gives it back. So it shows at the start if the system does not give one.
func (m *module) try() error {
	fd, mem, err := makeSegment(m.cfg.ring)
	if err != nil {
		return err
	}
	unix.Close(fd)
	return os.NewSyscallError("munmap", unix.Munmap(mem))
}

// remedyOf says what to do about an error of the system's.
func remedyOf(err error) string {
	switch {
	case openfiles.Exhausted(err):
		return openfiles.Remedy(err)
	case isOneOf(err, unix.ENOMEM, unix.ENOSPC):
		return "there is no memory for it: lower " + pFboxSize + ", raise ulimit -v or the limit of the memory cgroup"
	case isOneOf(err, unix.EFBIG):
		return "memory counts as a file, and none may be so large: lower " + pFboxSize + ", or raise ulimit -f"
	case isOneOf(err, unix.ENOSYS, unix.EPERM, unix.EACCES):
		return "the system does not allow memfd_create or sealing, which it has since Linux 3.17: a container's seccomp profile may forbid them"
	}
	return ""
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attr }

// Address implements [btl.Module]: the layout of the memory, and the name of our sockets.
func (m *module) Address() []byte {
	if m.name == "" {
		return nil
	}
	return append([]byte{ours}, m.name...)
}

// nameIn reads a peer's address.
func nameIn(address []byte) (string, error) {
	if len(address) == 0 {
		return "", fmt.Errorf("it offers no shared memory")
	}
	switch v := address[0]; v {
	case ours:
	case ours ^ bigEndian:
		return "", fmt.Errorf("its words have the other order of bytes: it runs on another kind of processor, or on one that is emulated")
	default:
		return "", fmt.Errorf("its shared memory has layout %d, ours %d: run the same version of Strand everywhere", v&^bigEndian, layout)
	}
	name := string(address[1:])
	if !strings.HasPrefix(name, namePrefix) || len(name) > maxName || wireup.Plain(address[1:]) != name {
		return "", fmt.Errorf("malformed address: %.120q", name)
	}
	return name, nil
}

// Reach implements [btl.Module]. A peer is on this host if the socket that it names answers here.
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank == m.host.Rank() {
		return nil, fmt.Errorf("sm: rank %d is this process, which btl self serves", peer.Rank)
	}
	name, err := nameIn(peer.Address)
	if err == nil {
		err = answers(name)
	}
	if err != nil {
		return nil, fmt.Errorf("sm: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	return []btl.Path{{
		Bandwidth: m.attr.Bandwidth, Latency: m.attr.Latency, Weight: 1,
		Desc: "shared memory", Private: way{"@" + m.name, name},
	}}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return m.wire.Connect(peer, path, recv)
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Holds implements [wireup.Transport]: targets of this transport are no IP addresses.
func (m *module) Holds(target netip.AddrPort) bool { return !target.IsValid() }

// Linger implements [wireup.Transport].
func (m *module) Linger() {
	var fds []int
	for _, l := range m.wire.Leaving() {
		if l, ok := l.(*linger); ok {
			fds = append(fds, l.p.fd)
		}
	}
	rawio.WaitAny(fds, 1)
}

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	did := false
	for i := 0; i < len(m.pipes); i++ {
		p := m.pipes[i]
		if p.fresh {
			p.fresh = false // a thread that waits for this peer has just looked (Poll)
			continue
		}
		if p.waits() || p.in.next() != 0 {
			did = p.owner.progress() || did
		}
	}
	return did
}

// Doze implements [btl.Dozer].
func (m *module) Doze() bool {
	for _, p := range m.pipes {
		p.us.word.Store(p.awaits())
	}
	for _, p := range m.pipes {
		if p.canGoOn() || p.owner.hears() && p.in.next() != 0 {
			m.Wake()
			return false
		}
	}
	if m.looksAgain() && len(m.pipes) > 0 {
		m.lookAgain()
	}
	return true
}

// Wake implements [btl.Dozer].
func (m *module) Wake() {
	for _, p := range m.pipes {
		p.us.word.Store(m.idles())
	}
}

// forget takes a connection off the list.
func (m *module) forget(p *pipe) {
	if i := slices.Index(m.pipes, p); i >= 0 {
		m.pipes = slices.Delete(m.pipes, i, i+1)
	}
}

// Close implements [btl.Module].
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.again.stop()
	if m.listener != nil {
		m.listener.close()
	}
	if m.beacon >= 0 {
		unix.Close(m.beacon)
	}
	m.wire.Close()
	return nil
}

const (
	namePrefix = "strand-sm-"
	maxName    = 64
	// backlog bounds the connections in the system's queue. They wait there while wireup has no
	// room for another stranger.
	backlog = 4096
)

// listen opens both sockets. Their name is random, so nobody can have taken it before. It is
// abstract (unix(7)), so no file is left behind.
func (m *module) listen() (err error) {
	name := namePrefix + rand.Text()
	if m.beacon, err = socket(unix.SOCK_DGRAM); err != nil {
		return err
	}
	fd, err := socket(unix.SOCK_STREAM)
	if err == nil {
		at := &unix.SockaddrUnix{Name: "@" + name}
		if err = os.NewSyscallError("bind", unix.Bind(m.beacon, at)); err == nil {
			err = os.NewSyscallError("bind", unix.Bind(fd, at))
		}
		if err == nil {
			_ = unix.Shutdown(m.beacon, unix.SHUT_RD) // it hears nobody
			err = os.NewSyscallError("listen", unix.Listen(fd, backlog))
		}
		l := &listener{m: m, fd: fd}
		if err == nil {
			l.watch, err = m.loop.Watch(fd, l)
		}
		if err == nil {
			m.name, m.listener = name, l
			return nil
		}
		unix.Close(fd)
	}
	unix.Close(m.beacon)
	m.beacon = -1
	return err
}

// answers asks the kernel whether a process in this network namespace has the name. Nothing
// is sent.
func answers(name string) error {
	fd, err := socket(unix.SOCK_DGRAM)
	if err != nil {
		return openfiles.Explain(err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + name}); err != nil {
		return fmt.Errorf("its socket does not answer here, so it is on another host or in another network namespace (%w)", err)
	}
	return nil
}

func socket(kind int) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, os.NewSyscallError("socket", err)
}
