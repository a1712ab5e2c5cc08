package strandcmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/selection"
)

// States of a component.
const (
	available   = "available"
	unavailable = "not available"
	notSelected = "not selected"
)

// componentInfo is a component and what it would do in a program here.
type componentInfo struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is not available or selected
	// StandsBy says that its modules take over where those of higher exclusivity
	// fail (pml_failover).
	StandsBy bool         `json:"stands_by"`
	Modules  []moduleInfo `json:"modules,omitempty"`
}

// moduleInfo is the attributes of a module.
type moduleInfo struct {
	Name        string        `json:"name"`
	EagerLimit  int           `json:"eager_limit_bytes"`
	MaxFrame    int           `json:"max_frame_bytes"`
	Bandwidth   int           `json:"bandwidth_mbit_per_s"`
	Latency     time.Duration `json:"latency_ns"`
	Exclusivity int           `json:"exclusivity"`
	Lanes       int           `json:"lanes"`
	Ordered     bool          `json:"ordered"`
	Reliable    bool          `json:"reliable"`
	Confirms    bool          `json:"confirms"`
	Retains     bool          `json:"retains"`
	Unbreakable bool          `json:"unbreakable"`
	Secrecy     string        `json:"secrecy"`
	// The congestion control of connections within this machine and to others.
	CongestionWithin string `json:"congestion_within,omitempty"`
	CongestionOthers string `json:"congestion_others,omitempty"`
}

// components opens all transports that the parameters select, as a program
// would, notes what they say of themselves and closes them again.
func components(values *param.Values, registry *btl.Registry) (infos []componentInfo, err error) {
	v := values.Value("btl")
	list, err := selection.Parse(v.Text, v.Source)
	if err != nil {
		return nil, err
	}
	selected, err := list.Components(registry)
	if err != nil {
		return nil, err // a name that does not exist
	}
	secret := selection.Secret(selected, values)
	host, err := newInspector(values)
	if err != nil {
		return nil, err
	}
	defer host.close()
	failover := values.Value("pml_failover")
	if err := pml.CheckFailover(failover, registry); err != nil {
		return nil, err
	}
	for _, c := range registry.Components() {
		info := componentInfo{Name: c.Name(), State: notSelected, Reason: fmt.Sprintf("btl=%s (from %v)", v.Text, v.Source)}
		if list.Uses(c) {
			if info, err = host.inspect(c, secret); err != nil {
				return nil, err
			}
			info.StandsBy = info.breakable() && pml.StandsBy(failover, c.Name())
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// An inspector opens components without a world. It is a [btl.Host] for a job of
// two whose other rank never connects.
type inspector struct {
	params   *param.Values
	engine   *engine.Engine
	secret   []byte
	hostname string
}

var _ btl.Host = (*inspector)(nil)

func newInspector(params *param.Values) (*inspector, error) {
	e, err := engine.New(engine.Options{})
	if err != nil {
		return nil, err
	}
	h := &inspector{params: params, engine: e, secret: make([]byte, 32), hostname: machine.Hostname()}
	rand.Read(h.secret) // it never fails
	return h, nil
}

func (h *inspector) close() { h.engine.Close() }

// inspect opens a component and closes it again. secret names the setting by which the user
// wants messages to be secret, if any: a module that sends in the clear then counts as not
// available. The error is a mistake in the parameters.
func (h *inspector) inspect(c btl.Component, secret string) (componentInfo, error) {
	h.engine.Lock()
	defer h.engine.Unlock()
	info := componentInfo{Name: c.Name(), State: available}
	modules, err := c.Open(h)
	if info.refused(err) {
		return info, nil
	}
	if err != nil {
		return info, fmt.Errorf("btl %s: %w", c.Name(), err)
	}
	for _, m := range modules {
		if info.refused(selection.Exposed(c.Name(), m.Attr(), secret)) {
			err = errors.Join(err, m.Close())
			continue
		}
		described := describeModule(selection.OverridesFrom(h.params, c.Name()).Attr(m.Attr()))
		if reporter, ok := m.(btl.Reporter); ok {
			told := reporter.Report()
			described.CongestionWithin, described.CongestionOthers = told.CongestionWithin, told.CongestionOthers
		}
		info.Modules = append(info.Modules, described)
		err = errors.Join(err, m.Close())
	}
	return info, err
}

// refused reports whether the error says that the component is not available, and notes why.
func (c *componentInfo) refused(err error) bool {
	reason, ok := errors.AsType[*btl.UnavailableError](err)
	if !ok {
		return false
	}
	c.State, c.Reason = unavailable, reason.Reason
	if reason.Remedy != "" {
		c.Reason += " (" + reason.Remedy + ")"
	}
	return true
}

// breakable reports whether a module can break while both ends live. A transport that can not
// break shares its peers with no other one, so it does not stand by.
func (c componentInfo) breakable() bool {
	return slices.ContainsFunc(c.Modules, func(m moduleInfo) bool { return !m.Unbreakable })
}

func describeModule(a btl.Attr) moduleInfo {
	return moduleInfo{
		Name: a.Name, EagerLimit: a.EagerLimit, MaxFrame: a.MaxFrame,
		Bandwidth: a.Bandwidth, Latency: a.Latency, Exclusivity: a.Exclusivity, Lanes: a.Lanes,
		Ordered: a.Ordered, Reliable: a.Reliable, Confirms: a.Confirms, Retains: a.Retains, Unbreakable: a.Unbreakable, Secrecy: a.Secrecy.String(),
	}
}

// Rank implements [btl.Host], as do the methods below.
func (h *inspector) Rank() int                                { return 0 }
func (h *inspector) Size() int                                { return 2 } // in a job of one nothing would listen
func (h *inspector) Hostname() string                         { return h.hostname }
func (h *inspector) Job() string                              { return fmt.Sprintf("info_%d", os.Getpid()) }
func (h *inspector) Secret() []byte                           { return h.secret }
func (h *inspector) Params() *param.Values                    { return h.params }
func (h *inspector) Loop() btl.Loop                           { return h.engine }
func (h *inspector) PairKey(_ int, found func([]byte, error)) { found(nil, btl.ErrClosed) }
func (h *inspector) Hello() []byte                            { return nil }

func (h *inspector) Accept(btl.Module, int, []byte, int, btl.Endpoint) (btl.Receiver, error) {
	return nil, btl.ErrClosed
}

func (h *inspector) Logf(level btl.LogLevel, format string, args ...any) {
	if level == btl.LogWarn {
		fmt.Fprintf(os.Stderr, "strand info: "+format+"\n", args...)
	}
}
