package tcp

import (
	"time"

	"github.com/strandmp/strand/btl/tcp/internal/record"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/wireup"
)

// Names of the parameters.
const (
	prefixOfAll  = "btl_tcp_"
	pLinks       = prefixOfAll + "links"
	pSndbuf      = prefixOfAll + "sndbuf"
	pRcvbuf      = prefixOfAll + "rcvbuf"
	pNoDelay     = prefixOfAll + "nodelay"
	pCongestion  = prefixOfAll + "congestion"
	pEagerLimit  = prefixOfAll + "eager_limit"
	pMaxFrag     = prefixOfAll + "max_frag"
	pUserTimeout = prefixOfAll + "user_timeout"
	pUnsent      = prefixOfAll + "unsent"
	pKeepalive   = prefixOfAll + "keepalive"
	pEncrypt     = prefixOfAll + "encrypt"
)

var specs = append(wireup.AllParameters(prefixOfAll), []param.Spec{
	{Name: pLinks, Kind: param.Int, Default: "1", Min: "1", Max: "16", AtMost: "pml_lanes", Unit: "connections", Level: param.Tuner,
		Help: "Parallel connections for each pair of interfaces; the lanes of messages are spread over them. Not more than pml_lanes."},
	{Name: pEncrypt, Kind: param.Bool, Default: "false", Level: param.User,
		Help: "Encrypt what connections carry (AES-128-GCM, keys for each connection and direction, from its handshake), so that nobody on the way can read it or change it unnoticed. The same for all ranks: two that differ do not connect, and say so. Transports that send in the clear are not used then, and strand info says so."},
	{Name: pSndbuf, Kind: param.Size, Default: "0", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Size of the system's send buffer for each connection; 0 leaves it to the system, which adapts it."},
	{Name: pRcvbuf, Kind: param.Size, Default: "0", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Size of the system's receive buffer for each connection; 0 leaves it to the system, which adapts it."},
	{Name: pNoDelay, Kind: param.Bool, Default: "true", Level: param.Tuner,
		Help: "Send small frames at once (TCP_NODELAY) instead of waiting for acknowledgements of earlier ones."},
	{Name: pCongestion, Kind: param.String, Default: "auto", Level: param.Tuner,
		Help: "Congestion control, by the kernel's name for it; default leaves the kernel's own; auto does so too, but prefers cubic or reno within one machine, where pacing (bbr) only costs."},
	{Name: pEagerLimit, Kind: param.Size, Default: "64K", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Messages up to this size are sent without asking the receiver first. Unless it is set, longer ones are too, up to pml_eager_max and the size of a frame (btl_tcp_max_frag)."},
	{Name: pMaxFrag, Kind: param.Size, Default: "1M", Min: "1K", Max: "1G", Level: param.Tuner,
		Help: "Largest piece of a long message that is sent as one frame."},
	{Name: pUnsent, Kind: param.Size, Default: "128K", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "How much the system may hold of a connection to another host without having sent it (TCP_NOTSENT_LOWAT); more would queue ahead of what is urgent, and on a slow path of several. 0 leaves it to the system. Linux only."},
	{Name: pUserTimeout, Kind: param.Duration, Default: "0s", Min: "0s", Max: "24h", Level: param.Tuner,
		Help: "How long sent data may stay unacknowledged, or the peer's window closed, before the system ends the connection (TCP_USER_TIMEOUT, RFC 5482); 0 leaves it to the system. Linux only."},
	{Name: pKeepalive, Kind: param.Duration, Default: "60s", Min: "0s", Max: "9h", Level: param.Tuner,
		Help: "After how long a silence the system asks whether the peer is there, again after a third of that, and ends the connection after three questions without an answer; 0 never asks. Keeps firewalls and address translators, the hastiest of which do so after some four minutes, from forgetting idle connections. In whole seconds, rounded up."},
}...)

// config is the values of the parameters.
type config struct {
	links             int
	sndbuf, rcvbuf    buffer
	noDelay           bool
	congestion        string
	eagerLimit        int
	eagerFixed        bool // by the user
	maxFrag           int
	userTimeout       time.Duration
	unsent            int
	keepalive         time.Duration
	encrypt           bool
	encryptSetting    string
	renewal           uint64 // of the keys, in records
	congestionSetting string
}

// readConfig reads them.
func readConfig(v *param.Values) config {
	return config{
		links:             v.Int(pLinks),
		sndbuf:            buffer{int(v.Size(pSndbuf)), v.Value(pSndbuf).String(), "net.core.wmem_max", rawio.SetSendBuffer, rawio.SendBuffer},
		rcvbuf:            buffer{int(v.Size(pRcvbuf)), v.Value(pRcvbuf).String(), "net.core.rmem_max", rawio.SetReceiveBuffer, rawio.ReceiveBuffer},
		noDelay:           v.Bool(pNoDelay),
		congestion:        v.String(pCongestion),
		eagerLimit:        int(v.Size(pEagerLimit)),
		eagerFixed:        v.Value(pEagerLimit).Source.Kind != param.Default,
		maxFrag:           int(v.Size(pMaxFrag)),
		userTimeout:       v.Duration(pUserTimeout),
		unsent:            int(v.Size(pUnsent)),
		keepalive:         v.Duration(pKeepalive),
		encrypt:           v.Bool(pEncrypt),
		encryptSetting:    v.Value(pEncrypt).String(),
		renewal:           record.Renewal,
		congestionSetting: v.Value(pCongestion).String(),
	}
}
