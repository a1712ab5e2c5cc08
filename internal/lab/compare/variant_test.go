package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func TestParseVariants(t *testing.T) {
	variants, err := ParseVariants("tcp, tcp(congestion=reno, pml_lanes=4),sctp(streams=1)", btl.Default)
	require.NoError(t, err)
	assert.Equal(t, []Variant{
		{"tcp", "tcp", map[string]string{}},
		{"tcp(congestion=reno,pml_lanes=4)", "tcp", map[string]string{"btl_tcp_congestion": "reno", "pml_lanes": "4"}},
		{"sctp(streams=1)", "sctp", map[string]string{"btl_sctp_streams": "1"}},
	}, variants)
}

func TestBadVariants(t *testing.T) {
	for text, want := range map[string]string{
		"tpc":                          `there is no transport "tpc"; did you mean tcp? Available: sctp, self, sm, tcp, udp. Any other has to be compiled into the program`,
		"quic":                         `there is no transport "quic". Available: sctp, self, sm, tcp, udp. Any other`,
		"self":                         "it is part of every variant",
		"tcp,tcp":                      "tcp is there twice; to see what chance alone does, compare it with itself under another name, such as tcp(pml_ordering=strict)",
		"tcp(link=2)":                  "tcp(link=2): there is no parameter link or btl_tcp_link; did you mean links?",
		"sctp(links=2)":                "there is no parameter links or btl_sctp_links; want one of assoc_max_retrans, ",
		"tcp(pml_lane=2)":              "did you mean pml_lanes?",
		"tcp(btl=sctp)":                "btl is what the variant names itself",
		"tcp(links=2,links=4)":         "btl_tcp_links is set twice",
		"tcp(links=2,btl_tcp_links=4)": "btl_tcp_links is set twice",
		"tcp(links=99)":                `btl_tcp_links = "99" (from tcp(links=99))`,
		"tcp(links=2":                  "not closed",
	} {
		_, err := ParseVariants(text, btl.Default)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestPins(t *testing.T) {
	variants, err := ParseVariants("tcp(nodelay=false,pml_lanes=4),sctp(stack=kernel),sctp(stack=user),udp,sctp(stack=kernel,congestion=cubic),sctp(cmt=on)", btl.Default)
	require.NoError(t, err)
	pins := Pins{Congestion: "reno", Buffer: 1 << 20, Common: map[string]string{"pml_lanes": "2", "btl_tcp_sndbuf": "2M"}}
	assert.Equal(t, map[string]string{
		"btl": "tcp,self", "btl_tcp_congestion": "reno", "btl_tcp_nodelay": "false", "btl_tcp_sndbuf": "2M", "btl_tcp_rcvbuf": "1M",
		"pml_lanes": "4",
	}, pins.params(variants[0], 1500, btl.Default), "a variant's own wins over what is common, that over a pin")
	assert.Equal(t, map[string]string{
		"btl": "sctp,self", "btl_sctp_stack": "kernel", "btl_sctp_nodelay": "true", "btl_sctp_sndbuf": "1M", "btl_sctp_rcvbuf": "1M",
		"pml_lanes": "2", "btl_tcp_sndbuf": "2M",
	}, pins.params(variants[1], 1500, btl.Default))
	user, udp, asked, multipath := variants[2], variants[3], variants[4], variants[5]
	assert.Equal(t, "8192", pins.params(user, 9000, btl.Default)["btl_sctp_mtu"], "its largest")
	assert.Equal(t, "1472", pins.params(user, 1500, btl.Default)["btl_sctp_mtu"])
	assert.Equal(t, "reno", pins.params(user, 1500, btl.Default)["btl_sctp_congestion"])
	assert.Equal(t, "on", pins.params(multipath, 1500, btl.Default)["btl_sctp_cmt"])
	assert.Equal(t, "reno", pins.params(udp, 1500, btl.Default)["btl_udp_congestion"])
	assert.Equal(t, "cubic", pins.params(asked, 1500, btl.Default)["btl_sctp_congestion"], "a stack without it says so")
	assert.NotContains(t, Pins{Congestion: "bbr"}.params(udp, 1500, btl.Default), "btl_udp_congestion", "it has no such algorithm")
	left := Pins{}.params(variants[1], 1500, btl.Default)
	assert.NotContains(t, left, "btl_sctp_sndbuf")
	assert.NotContains(t, Pins{}.params(variants[0], 1500, btl.Default), "btl_tcp_congestion")
}

// A pin that is above what a transport of somebody else's takes must not keep it out of a comparison.
func TestFitting(t *testing.T) {
	for _, tc := range []struct {
		spec        param.Spec
		value, want string
	}{
		{param.Spec{Kind: param.Int, Max: "8192"}, "8972", "8192"},
		{param.Spec{Kind: param.Int}, "8972", "8972"},
		{param.Spec{Kind: param.Size, Max: "1M"}, "4M", "1M"},
		{param.Spec{Kind: param.Size, Max: "1G"}, "4M", "4M"},
		{param.Spec{Kind: param.Size}, "4M", "4M"},
		{param.Spec{Kind: param.Bool}, "true", "true"},
		{param.Spec{Kind: param.Duration, Max: "1h"}, "134h34m40s", "1h"}, // as at 1 bit/s
		{param.Spec{Kind: param.Duration, Max: "1h"}, "1m40s", "1m40s"},
	} {
		assert.Equal(t, tc.want, fitting(tc.spec, tc.value), "%+v", tc.spec)
	}
}

func TestCongestion(t *testing.T) {
	name, err := Congestion("auto")
	require.NoError(t, err)
	assert.Contains(t, []string{"cubic", "reno", ""}, name)
	_, err = Congestion("carrier-pigeon")
	assert.ErrorContains(t, err, `congestion control "carrier-pigeon": `)
}
