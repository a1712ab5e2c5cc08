package wireup

import (
	"strings"

	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
)

// Names of the parameters of a transport that say which networks it uses, without
// the transport's prefix.
const (
	include       = "if_include"
	exclude       = "if_exclude"
	unknown       = "if_unknown"
	atMost        = "max_interfaces"
	disableFamily = "disable_family"
)

// AllParameters declares what a transport over IP has: which networks it uses, at which ports, and
// how it connects. Its prefix is "btl_tcp_" or the like.
func AllParameters(prefix string) []param.Spec {
	return []param.Spec{
		{Name: prefix + include, Kind: param.List, Level: param.User,
			Help: "Use only these networks: interface names, patterns (eth*) or subnets (10.8.0.0/16, fd00::/8). Not together with " + prefix + exclude + "."},
		{Name: prefix + exclude, Kind: param.List, Level: param.User,
			Help: "Use all networks but these, written as for " + prefix + include + ". The loopback is used between processes of one machine only, and not at all if it is named here."},
		{Name: prefix + unknown, Kind: param.Enum, Default: "error", Choices: []string{"error", "warn"}, Level: param.User,
			Help: "Whether an entry of " + prefix + include + " or " + prefix + exclude + " that fits nothing on a host is a mistake (error) or only worth a warning (warn), for hosts that differ."},
		{Name: prefix + atMost, Kind: param.Int, Default: "0", Min: "0", Max: "64", Unit: "interfaces", Level: param.User,
			Help: "Use at most so many interfaces besides the loopback, cards before tunnels and the fastest first; 0 means all."},
		{Name: prefix + disableFamily, Kind: param.Enum, Default: "none", Choices: []string{"none", "4", "6"}, Level: param.User,
			Help: "Do not use the addresses of IPv4 (4) or of IPv6 (6)."},
		{Name: prefix + policy, Kind: param.Enum, Default: reach.DefaultPolicy, Choices: reach.PolicyNames(), Level: param.User,
			Help: "How pairs of a local and a peer's address are judged. " + strings.Join(reach.DescribePolicies("%s: %s."), " ") + " strand reach shows the result."},
		{Name: prefix + portMin, Kind: param.Int, Default: "0", Min: "0", Max: "65535", Level: param.User,
			Help: "The first port to listen on; 0 lets the system choose. For firewalls that open a range of ports."},
		{Name: prefix + portRange, Kind: param.Int, Default: "0", Min: "0", Max: "65535", Unit: "ports", Level: param.User,
			Help: "How many ports from " + prefix + portMin + " on may be tried, one for each process of a host; 0 means up to 65535."},
		{Name: prefix + connectRetries, Kind: param.Int, Default: "3", Min: "1", Max: "1000", Unit: "attempts", Level: param.Tuner,
			Help: "How many attempts to connect may fail before the path counts as broken."},
		{Name: prefix + connectTimeout, Kind: param.Duration, Default: "10s", Min: "1ms", Max: "1h", Level: param.Tuner,
			Help: "How long one attempt waits for the peer's system to answer."},
		{Name: prefix + handshakeTimeout, Kind: param.Duration, Default: "10s", Min: "1ms", Max: "1h", Level: param.Tuner,
			Help: "How long a connection may take to prove that it belongs to the job."},
	}
}

// ChoiceOf is what the parameters say. Warn is told of each entry that fits nothing,
// where that is no mistake, and of addresses that there is no room for.
func ChoiceOf(v *param.Values, prefix string, warn func(error)) Choice {
	where := func(name string) string { return v.Value(prefix + name).String() }
	c := Choice{
		Include: v.List(prefix + include), IncludeWhere: where(include),
		Exclude: v.List(prefix + exclude), ExcludeWhere: where(exclude),
		DisableFamily: v.String(prefix + disableFamily), FamilyWhere: where(disableFamily),
		MaxInterfaces: v.Int(prefix + atMost),
		IncludeName:   prefix + include,
		UnknownName:   prefix + unknown,
		Warn:          warn,
	}
	if v.String(prefix+unknown) == "warn" {
		c.Unknown = warn
	}
	return c
}
