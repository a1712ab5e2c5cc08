package strandcmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/strandmp/strand/reach"
)

// reachReport is all that strand reach can tell.
type reachReport struct {
	Host       string          `json:"host"`
	Policy     string          `json:"policy"`
	Interfaces []interfaceInfo `json:"interfaces"`
	Peer       []interfaceInfo `json:"peer,omitempty"`
	Pairs      []pairInfo      `json:"pairs"`
	Rejected   []pairInfo      `json:"rejected"`
	Tried      []triedInfo     `json:"tried,omitempty"`

	table   string // "" without a peer
	spares  []reach.Pair
	peer    string // the name of the host that was tried with
	timeout time.Duration
}

// interfaceInfo is one address of an interface.
type interfaceInfo struct {
	Interface string `json:"interface"`
	Index     int    `json:"index"`
	Device    int    `json:"device,omitempty"` // index of the interface below, of a VLAN's parent
	Address   string `json:"address"`
	Speed     int    `json:"mbit_per_s"` // 0: not known
	Flags     string `json:"flags,omitempty"`
}

// pairInfo is a pair of addresses.
type pairInfo struct {
	Local           string  `json:"local"`
	LocalInterface  string  `json:"local_interface"`
	Remote          string  `json:"remote"`
	RemoteInterface string  `json:"remote_interface"`
	Quality         int     `json:"quality"`
	Weight          float64 `json:"weight"`
	Speed           int     `json:"mbit_per_s"`
	Why             string  `json:"why"`
}

func interfaceInfos(s reach.Side) []interfaceInfo {
	infos := make([]interfaceInfo, 0, len(s.Addresses))
	for _, a := range s.Addresses {
		infos = append(infos, interfaceInfo{
			Interface: a.Interface, Index: a.Index, Device: a.Device,
			Address: a.Prefix.String(), Speed: a.Speed, Flags: a.Flags.String(),
		})
	}
	return infos
}

func pairInfos(pairs []reach.Pair) []pairInfo {
	infos := make([]pairInfo, 0, len(pairs))
	for _, p := range pairs {
		infos = append(infos, pairInfo{
			Local: p.Local.Addr().String(), LocalInterface: p.Local.Interface,
			Remote: p.Remote.Addr().String(), RemoteInterface: p.Remote.Interface,
			Quality: p.Quality, Weight: p.Weight, Speed: p.Speed, Why: p.Why,
		})
	}
	return infos
}

// match adds how a policy pairs the addresses of the two hosts.
func (r *reachReport) match(local, peer reach.Side, p reach.Policy) {
	result := reach.Match(local, peer, p)
	r.Peer = interfaceInfos(peer)
	r.Pairs, r.Rejected = pairInfos(result.Pairs), pairInfos(result.Rejected)
	r.table, r.spares = result.Table(), result.Spares()
}

// write prints the report for people.
func (r *reachReport) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Interfaces of %s\n", r.Host)
	writeInterfaces(&b, r.Interfaces)
	if r.table == "" {
		b.WriteString("\nHow they would be paired with another host's: strand reach --peer; strand reach --help.\n")
	} else {
		fmt.Fprintf(&b, "\nPolicy %s\n%s", r.Policy, r.table)
	}
	if r.Tried != nil {
		r.writeTried(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func writeInterfaces(b *strings.Builder, infos []interfaceInfo) {
	rows := [][]string{{"INTERFACE", "ADDRESS", "MBIT/S", "REMARKS"}}
	for _, i := range infos {
		speed := "unknown"
		if i.Speed > 0 {
			speed = fmt.Sprint(i.Speed)
		}
		remarks := i.Flags
		if i.Device != 0 {
			remarks = strings.TrimPrefix(fmt.Sprintf("%s, sends by interface %d", remarks, i.Device), ", ")
		}
		rows = append(rows, []string{i.Interface, i.Address, speed, remarks})
	}
	for _, line := range align(rows) {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
}
