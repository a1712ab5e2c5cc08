package strandcmd

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/tryout"
	"github.com/strandmp/strand/reach"
)

// blobOf is what a host with these addresses would print.
func blobOf(t *testing.T, network byte, prefixes ...string) string {
	side := reach.Side{Network: reach.Network{network}}
	for i, p := range prefixes {
		side.Addresses = append(side.Addresses, reach.Address{Prefix: netip.MustParsePrefix(p), Interface: "far" + string(rune('0'+i)), Index: i + 1, Speed: 1000})
	}
	text, err := side.MarshalText()
	require.NoError(t, err)
	return string(text)
}

func TestReach(t *testing.T) {
	blob, stderr, status := command("reach --blob")
	require.Zero(t, status, stderr)
	require.True(t, reach.IsText(blob))
	far := blobOf(t, 99, "127.0.0.1/8", "::1/128")
	for _, tc := range []struct {
		line   string
		status int
		stdout []string
		stderr string
	}{
		{"reach", 0, []string{"Interfaces of ", "127.0.0.1/8", "strand reach --peer"}, ""},
		{"reach --peer " + blob, 0, []string{"Policy " + reach.DefaultPolicy, "*", "127.0.0.1 (lo", "Not chosen"}, ""},
		{"reach -p btl_tcp_if_include=127.0.0.0/8 --peer " + blob, 0, []string{"127.0.0.1/8"}, ""},
		{"reach -p btl_tcp_if_exclude=127.0.0.0/8", 0, []string{"Interfaces of "}, ""},
		{"reach -i nosuch0", 2, nil, `btl_tcp_if_include=nosuch0 from -i: no interface that is up fits "nosuch0"; there are `},
		{"reach -i lo,nosuch0 -p btl_tcp_if_unknown=warn", 0, []string{"127.0.0.1/8"}, `strand reach: btl_tcp_if_include=lo,nosuch0 from -i: no interface that is up fits "nosuch0"`},
		{"reach -i lo -p btl_tcp_if_exclude=lo", 2, nil, "exclude each other"},
		{"reach -p btl_tcp_reach=subnet --peer 127.0.0.1", 0, []string{"Policy subnet"}, ""},
		{"reach --peer localhost", 0, []string{"Chosen\n  127.0.0.1 (lo"}, ""},
		{"reach --policy subnet --peer 127.0.0.1", 0, []string{"Policy subnet", "Chosen\n  127.0.0.1 (lo"}, ""},
		{"reach --policy subnet --peer " + far, 1, []string{"Chosen\n  none", "another host or in another network namespace", "far0 127.0.0.1/8, 1000 Mbit/s"}, "no pair of addresses works"},
		{"reach --help", 0, []string{"strand reach --peer \"$(ssh node2", "weighted13"}, ""},
		{"reach node2", 2, nil, "a peer is named by --peer node2"},
		{"reach --peer=", 2, nil, "--peer: the value is empty"},
		{"reach --btl nosuch", 2, nil, "nosuch"},
		{"reach --btl self", 2, nil, "btl=self (from --btl) leaves out tcp, whose addresses these are"},
		{"reach --policy best", 2, nil, `--policy: there is no reachability policy "best"; there are route, weighted, weighted13, subnet`},
		{"reach --peer reach:AAAA", 2, nil, "copy all that strand reach --blob prints there"},
		{"reach --peer nosuch.invalid", 1, nil, "--peer nosuch.invalid: "},
		{"reach --blob --json", 2, nil, "strand reach: --blob and --json exclude each other: leave out one"},
		{"reach --try", 2, nil, "--try needs the command that starts strand on the other host: strand reach --try ssh node2 strand"},
		{"reach --timeout 1h --try x", 2, nil, "--timeout: 1h0m0s for an attempt: allowed are 10ms to 1m0s"},
		{"reach --try --peer x y", 2, nil, "--try and --peer exclude each other"},
		{"reach --try nosuchprogram", 1, nil, "--try: exec: \"nosuchprogram\""},
		{"reach --try echo strand", 1, nil, `the other side says "strand reach --answer", which strand reach would not`},
		{"reach --try false", 1, nil, "conversation: false reach --answer: exit status 1; it has to start strand, of this version, on the other host"},
	} {
		stdout, stderr, status := command(tc.line)
		assert.Equal(t, tc.status, status, "%s: %s", tc.line, stderr)
		for _, part := range tc.stdout {
			assert.Contains(t, stdout, part, tc.line)
		}
		assert.Contains(t, stderr, tc.stderr, tc.line)
	}
}

func TestReachJSON(t *testing.T) {
	stdout, stderr, status := command("reach --json")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, `"pairs": []`)
	blob, _, _ := command("reach --blob")
	stdout, stderr, status = command("reach --json --peer " + blob)
	require.Zero(t, status, stderr)
	var report reachReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Equal(t, report.Interfaces, report.Peer)
	assert.Len(t, append(report.Pairs, report.Rejected...), len(report.Interfaces)*len(report.Peer))
	for _, p := range append(report.Pairs, report.Rejected...) {
		assert.NotEmpty(t, p.Why)
	}
}

// Here the other host is this one.
func TestReachTries(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := strandProcess(t, "reach", "-i", "lo", "--try", self)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "127.0.0.1 (lo) and 127.0.0.1 (lo) (chosen): works both ways")
	assert.Contains(t, string(out), "All that is chosen works.")

	out, err = strandProcess(t, "reach", "-i", "lo", "--json", "--try", self).Output()
	require.NoError(t, err)
	var report reachReport
	require.NoError(t, json.Unmarshal(out, &report))
	require.NotEmpty(t, report.Tried)
	assert.Equal(t, chosenPair, report.Tried[0].Role)
	assert.True(t, report.Tried[0].There.Works)
	assert.True(t, report.Tried[0].Back.Works)
	assert.Equal(t, report.Interfaces, report.Peer, "it has the parameters of the command line too")

	out, err = strandProcess(t, "reach", "-p", "btl_tcp_port_min=65535", "-i", "lo", "--try", self).CombinedOutput()
	require.Error(t, err, "both would need that port")
	assert.Contains(t, string(out), "on the other side: no address can be listened on")
}

// What a program makes of the outcomes.
func TestWhatTriedPairsMean(t *testing.T) {
	works, fails := tryout.Outcome{Works: true, Micros: 5}, tryout.Outcome{Why: "refused"}
	for _, c := range []struct {
		pairs  []triedInfo
		usable bool
		says   string
	}{
		{nil, false, "Nothing works"},
		{[]triedInfo{{Role: chosenPair, There: fails, Back: fails}}, false, "Nothing works"},
		{[]triedInfo{{Role: unusedPair, There: works}}, false, "left out by the policy"},
		{[]triedInfo{{Role: chosenPair, Back: works}}, true, "All that is chosen works."},
		{[]triedInfo{{Local: "10.0.0.1", Role: chosenPair}, {Role: sparePair, There: works}}, true, "Of 1 chosen pairs 1 do not work; messages go over those that do. To leave a network out from the start: -p btl_tcp_if_exclude=10.0.0.1"},
	} {
		r := reachReport{Tried: c.pairs}
		assert.Equal(t, c.usable, r.usable())
		assert.Contains(t, r.conclusion(), c.says)
	}
}

func TestPeerOfBareAddresses(t *testing.T) {
	local := reach.Side{Network: reach.Network{1}, Addresses: []reach.Address{
		{Prefix: netip.MustParsePrefix("10.0.0.1/24"), Interface: "eth0", Index: 2},
		{Prefix: netip.MustParsePrefix("192.168.0.1/0"), Interface: "eth1", Index: 3},
	}}
	ips := []netip.Addr{netip.MustParseAddr("::ffff:10.0.0.2"), netip.MustParseAddr("10.1.0.2"), netip.MustParseAddr("fe80::2%eth0")}
	var prefixes []string
	for _, a := range sideOfAddresses("node2", ips, local).Addresses {
		prefixes = append(prefixes, a.Prefix.String())
	}
	assert.Equal(t, []string{"10.0.0.2/24", "10.1.0.2/32", "fe80::2/128"}, prefixes)
	assert.Equal(t, local, sideOfAddresses("here", []netip.Addr{netip.MustParseAddr("10.0.0.1")}, local))
	assert.Equal(t, local, sideOfAddresses("localhost", []netip.Addr{netip.MustParseAddr("::1")}, local))
}

func TestReachReportSaysWhatCarriesAnInterface(t *testing.T) {
	var b strings.Builder
	report := reachReport{Host: "node1", Interfaces: []interfaceInfo{
		{Interface: "eth0.10", Address: "10.0.10.1/24", Speed: 1000, Device: 2},
		{Interface: "tun0", Address: "10.9.0.1/24", Device: 2, Flags: "point to point"},
	}}
	require.NoError(t, report.write(&b))
	assert.Contains(t, b.String(), "eth0.10    10.0.10.1/24  1000     sends by interface 2\n")
	assert.Contains(t, b.String(), "point to point, sends by interface 2\n")
}
