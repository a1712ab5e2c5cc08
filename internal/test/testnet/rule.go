//go:build linux

package testnet

import (
	"encoding/binary"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Rules, as nft --debug=netlink shows what it makes of the text above each.
// All work on register 1.

// iifname NIC numgen random mod 1000000 < share × 1000000 drop
func (l loss) rule() []expr.Any {
	const whole = 1_000_000
	return append(arriving(l.nic),
		&expr.Numgen{Register: 1, Modulus: whole, Type: unix.NFT_NG_RANDOM},
		&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Cmp{Op: expr.CmpOpLt, Register: 1, Data: binary.BigEndian.AppendUint32(nil, uint32(l.share*whole))},
		drop())
}

// iifname NIC meta length > BYTES drop
func (l longer) rule() []expr.Any {
	return append(arriving(l.nic),
		&expr.Meta{Key: expr.MetaKeyLEN, Register: 1},
		&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Cmp{Op: expr.CmpOpGt, Register: 1, Data: binary.BigEndian.AppendUint32(nil, uint32(l.bytes))},
		drop())
}

// iifname NIC meta l4proto tcp reject with tcp reset
func resetting(nic string) []expr.Any {
	return append(arriving(nic),
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		equal([]byte{unix.IPPROTO_TCP}),
		&expr.Reject{Type: unix.NFT_REJECT_TCP_RST})
}

// iifname NIC meta nfproto ipv4 drop
func losing4(nic string) []expr.Any {
	return append(arriving(nic), &expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equal([]byte{unix.NFPROTO_IPV4}), drop())
}

// iifname NIC
func arriving(nic string) []expr.Any {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, nic)
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1}, equal(name)}
}

// tcp dport FIRST-LAST tcp flags & (syn | ack) == syn drop
func (r portRange) rule() []expr.Any {
	const syn, ack = 0x02, 0x10
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		equal([]byte{unix.IPPROTO_TCP}),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpGte, Register: 1, Data: binary.BigEndian.AppendUint16(nil, r.first)},
		&expr.Cmp{Op: expr.CmpOpLte, Register: 1, Data: binary.BigEndian.AppendUint16(nil, r.last)},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 13, Len: 1},
		mask([]byte{syn | ack}),
		equal([]byte{syn}),
		drop(),
	}
}

// ip saddr FROM snat ip to TO, or the same with ip6
func (n translation) rule() []expr.Any {
	family, offset, size := byte(unix.NFPROTO_IPV4), uint32(12), uint32(4)
	if n.to.Is6() {
		family, offset, size = unix.NFPROTO_IPV6, 8, 16
	}
	network := ipNet(n.from.Masked())
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		equal([]byte{family}),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: size},
		mask(network.Mask),
		equal(network.IP),
		&expr.Immediate{Register: 1, Data: n.to.AsSlice()},
		&expr.NAT{Type: expr.NATTypeSourceNAT, Family: uint32(family), RegAddrMin: 1},
	}
}

func equal(data []byte) expr.Any {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data}
}

func mask(bits []byte) expr.Any {
	return &expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: uint32(len(bits)), Mask: bits, Xor: make([]byte, len(bits))}
}
