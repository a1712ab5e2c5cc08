package sctp

import (
	"errors"

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
	cfg.Interleave = c.interleave != "off"
	s, err := userstack.Open(cfg)
	if err != nil {
		return nil, err
	}
	return &opened{s, overUDP, why}, nil
}
