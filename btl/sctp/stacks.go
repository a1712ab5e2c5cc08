package sctp

import (
	"errors"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btl/sctp/internal/userstack"
)

// opened is a stack and how it came to be chosen.
type opened struct {
	stack.Stack
	kind byte
	why  string
}

// openStack opens the stack that the user has named, or the best there is.
func openStack(c config, cfg stack.Config) (*opened, error) {
	if cfg.Peers == 0 {
		return &opened{noStack{cfg}, overUDP, "nobody to talk to"}, nil
	}
	if c.stack == "user" {
		return openUser(c, cfg, "as "+c.stackSetting+" says")
	}
	s, err := openKernel(cfg)
	if err == nil {
		return &opened{s, overIP, "the kernel has SCTP"}, nil
	}
	var none *btl.UnavailableError
	if c.stack == "kernel" || !errors.As(err, &none) {
		return nil, err
	}
	return openUser(c, cfg, none.Reason)
}

func openUser(c config, cfg stack.Config, why string) (*opened, error) {
	// Kernels are not offered I-DATA, unless that is asked for: then the stack says why not.
	cfg.Interleave = c.interleave == "on" || c.interleave == "auto" && cfg.EncapPort == 0
	s, err := userstack.Open(cfg)
	if err != nil {
		return nil, err
	}
	return &opened{s, overUDP, why}, nil
}

// noStack is for a process that is alone in its job: it opens no socket.
type noStack struct{ cfg stack.Config }

func (noStack) Local() []netip.Addr     { return nil }
func (noStack) Port() uint16            { return 0 }
func (noStack) Progress() bool          { return false }
func (noStack) Linger()                 {}
func (s noStack) MaxMessage() int       { return s.cfg.MaxMessage }
func (noStack) Farewell() time.Duration { return 0 }
func (noStack) Close() error            { return nil }
func (noStack) Associate(stack.Route, stack.Handler) (stack.Association, error) {
	return nil, syscall.ENOTCONN
}
