package conformance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/mem"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/selection"
)

// absent is a transport that can not serve here.
type absent struct{ *mem.Component }

func (absent) Open(btl.Host) ([]btl.Module, error) {
	return nil, &btl.UnavailableError{Component: "mem", Reason: "no memory of this kind"}
}

func TestUnavailable(t *testing.T) {
	factory := func() conformance.Subject {
		return conformance.Subject{Component: absent{mem.New(kinds["remote"])}}
	}
	for _, c := range []struct {
		opts []conformance.Option
		want conformance.Status
	}{
		{nil, conformance.Failed},
		{[]conformance.Option{conformance.AllowUnavailable()}, conformance.NotApplicable},
	} {
		report := conformance.Check(context.Background(), factory, append(c.opts, conformance.Only("sizes"))...)
		if got := report.Results[0]; got.Status != c.want {
			t.Errorf("a transport that is not available, with %d options: %v, want %v", len(c.opts), got.Status, c.want)
		}
		if s := report.String(); !strings.Contains(s, "no memory of this kind") {
			t.Errorf("the report does not give the reason:\n%s", s)
		}
	}
}

// eager declares what every transport has.
type eager struct{ *mem.Component }

func (e eager) Declare(r *param.Registry) {
	e.Component.Declare(r)
	selection.Declare(r, e.Name())
}

// unconnected is a transport as it is after the first step of docs/WRITING-A-BTL.md: it says what it
// is and whom it reaches, and its endpoints never connect.
type unconnected struct{ *mem.Component }

func (u unconnected) Open(h btl.Host) ([]btl.Module, error) {
	modules, err := u.Component.Open(h)
	for i := range modules {
		modules[i] = deaf{modules[i]}
	}
	return modules, err
}

type deaf struct{ btl.Module }

func (deaf) Connect(btl.Peer, btl.Path, btl.Receiver) (btl.Endpoint, error) {
	return deafEndpoint{}, nil
}

type deafEndpoint struct{}

func (deafEndpoint) Send(*btl.Frame, int) btl.Result { return btl.Busy }
func (deafEndpoint) Close() error                    { return nil }
func (deafEndpoint) Desc() string                    { return "nowhere" }

// What a transport says of itself is looked at before it can connect, so that who writes one begins
// with a case that passes.
func TestAttributesBeforeConnecting(t *testing.T) {
	report := conformance.Check(context.Background(), func() conformance.Subject {
		return conformance.Subject{Component: unconnected{mem.New(kinds["remote"])}}
	}, conformance.Only("attributes"), conformance.Timeout(time.Second))
	if failed := report.Failed(); len(failed) != 0 {
		t.Errorf("a transport that does not connect yet fails:\n%v", report)
	}
}

// homely reaches the processes whose host has the name of its own.
type homely struct{ *mem.Component }

func (u homely) Open(h btl.Host) ([]btl.Module, error) {
	modules, err := u.Component.Open(h)
	for i := range modules {
		modules[i] = namesake{modules[i], h}
	}
	return modules, err
}

type namesake struct {
	btl.Module
	host btl.Host
}

func (n namesake) Reach(p btl.Peer) ([]btl.Path, error) {
	switch {
	case p.Rank == n.host.Rank():
		return nil, fmt.Errorf("rank %d is this process", p.Rank)
	case p.Host != n.host.Hostname():
		return nil, fmt.Errorf("rank %d is on another host, %s", p.Rank, p.Host)
	}
	return n.Module.Reach(p)
}

// Who reaches nobody is told why it does not reach another rank: that it does not reach itself is as it should be with most transports.
func TestReasonWhyNobodyIsReached(t *testing.T) {
	report := conformance.Check(context.Background(), func() conformance.Subject {
		return conformance.Subject{Component: homely{mem.New(kinds["remote"])}}
	}, conformance.Only("sizes"))
	for _, want := range []string{"is on another host, host", "rank 0 is this process", "host name of its own"} {
		if s := report.String(); !strings.Contains(s, want) {
			t.Errorf("no word of %q:\n%s", want, s)
		}
	}
}

// careless gives descriptors to the loop as they come.
type careless struct{ btl.Component }

func (c careless) Open(h btl.Host) ([]btl.Module, error) {
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		return nil, err
	}
	w, err := h.Loop().Watch(pipe[0], nobody{})
	if err == nil {
		w.Stop()
	}
	unix.Close(pipe[0])
	unix.Close(pipe[1])
	modules, _ := c.Component.Open(h)
	return modules, err
}

type nobody struct{}

func (nobody) Poll(bool) bool { return false }

// A descriptor that blocks holds up the whole process, and one that the program's own children have
// keeps a connection open that nobody reads any more.
func TestDescriptorsOfTheLoop(t *testing.T) {
	report := conformance.Check(context.Background(), func() conformance.Subject {
		return conformance.Subject{Component: careless{mem.New(kinds["remote"])}}
	}, conformance.Only("attributes"))
	for _, want := range []string{"must be non-blocking", "not closed on exec"} {
		if s := report.String(); !strings.Contains(s, want) {
			t.Errorf("no word of %q:\n%s", want, s)
		}
	}
}

// A program with such a transport would panic when it starts.
func TestParametersOfEveryTransport(t *testing.T) {
	report := conformance.Check(context.Background(), func() conformance.Subject {
		return conformance.Subject{Component: eager{mem.New(kinds["remote"])}}
	}, conformance.Only("attributes"))
	for _, name := range []string{"btl_mem_exclusivity", "btl_mem_bandwidth", "btl_mem_latency"} {
		if s := report.String(); !strings.Contains(s, "parameter "+name+" is there for every transport") {
			t.Errorf("no word of %s:\n%s", name, s)
		}
	}
	registry := param.NewRegistry()
	selection.Declare(registry, "mem")
	if got := len(registry.Specs()); got != 3 {
		t.Errorf("every transport has %d parameters, and the suite knows 3", got)
	}
}

func TestWrongSettings(t *testing.T) {
	report := conformance.Check(context.Background(), func() conformance.Subject {
		s := subject(kinds["remote"])
		s.Settings = append(s.Settings, setting("btl_mem_windw", "8"))
		return s
	}, conformance.Only("sizes"))
	if s := report.String(); len(report.Failed()) != 1 || !strings.Contains(s, "btl_mem_window") {
		t.Errorf("a misspelt parameter of the subject has to fail and to be named:\n%s", s)
	}
}

func TestCheckStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	worlds := 0
	report := conformance.Check(ctx, func() conformance.Subject {
		worlds++
		cancel()
		return subject(kinds["remote"])
	})
	if len(report.Results) > 1 || worlds == 0 { // none if the first has failed for it
		t.Errorf("%d cases were run after the context had ended", len(report.Results))
	}
}

// A case that did not get the time to pass has not failed.
func TestCheckBlamesNobodyForItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	watched := 0
	report := conformance.Check(ctx, func() conformance.Subject {
		cancel()
		return conformance.Subject{Component: absent{mem.New(kinds["remote"])}}
	}, conformance.Watch(func(conformance.Result) { watched++ }))
	if len(report.Results) != 0 || watched != 0 {
		t.Errorf("a case that was interrupted counts:\n%v", report)
	}
}

func TestMissing(t *testing.T) {
	component := mem.New(kinds["remote"])
	registry := new(btl.Registry)
	registry.Register(component)
	same := func() conformance.Subject { return conformance.Subject{Component: component} }
	other := func() conformance.Subject { return subject(kinds["self"]) }
	for _, c := range []struct {
		name      string
		factories map[string]conformance.Factory
		want      string
	}{
		{"complete", map[string]conformance.Factory{"mem": same}, ""},
		{"forgotten", nil, `"mem" is registered and does not run`},
		{"not registered", map[string]conformance.Factory{"mem": same, "gone": same}, `"gone", which is not registered`},
		{"another one", map[string]conformance.Factory{"mem": other}, "makes another component"},
	} {
		t.Run(c.name, func(t *testing.T) {
			errs := conformance.Missing(registry, c.factories)
			if c.want == "" && len(errs) == 0 {
				return
			}
			if len(errs) != 1 || c.want == "" || !strings.Contains(errs[0].Error(), c.want) {
				t.Errorf("got %v, want %q", errs, c.want)
			}
		})
	}
}
