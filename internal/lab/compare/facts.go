package compare

import (
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
)

// factsOf is what rank 0 knows of how its transport works here.
func factsOf(w *strand.World, o *workload.Outcome, transport string) map[string]string {
	facts := map[string]string{results.FactOrdering: w.Params().String("pml_ordering")}
	prefix := "btl_" + transport + "_"
	for _, v := range w.Params().All() {
		name, own := strings.CutPrefix(v.Spec.Name, prefix)
		if !own {
			continue
		}
		switch name {
		case "streams":
			facts[results.FactStreams] = v.Text
		case "links":
			facts[results.FactConnections] = v.Text
		case "nodelay":
			facts[results.FactNagle] = onOff(!w.Params().Bool(v.Spec.Name))
		case "sndbuf":
			facts[results.FactSendBuffer] = bufferText(v.Text)
		case "rcvbuf":
			facts[results.FactReceiveBuffer] = bufferText(v.Text)
		}
	}
	for _, c := range o.Members[0].Connections {
		if c.Component != transport || c.Peer == 0 {
			continue
		}
		facts[results.FactStack] = stackOf(c.Module)
		if c.Algorithm != "" {
			facts[results.FactCongestion] = c.Algorithm
		}
	}
	return facts
}

// stackOf says who speaks the protocol: a module that is not the kernel's says so in
// its name, as sctp/user does.
func stackOf(module string) string {
	if _, who, _ := strings.Cut(module, "/"); who == "user" {
		return "user space"
	}
	return "kernel"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func bufferText(size string) string {
	if size == "0" {
		return "left to the stack"
	}
	return size
}
