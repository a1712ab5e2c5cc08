package pml

import (
	"time"

	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml/credit"
)

// Declare adds the message layer's parameters to a registry.
func Declare(r *param.Registry) {
	r.Declare(
		param.Spec{Name: "pml_lanes", Kind: param.Int, Default: "10", Min: "1", Max: "1024", Level: param.Tuner,
			Help: "Lanes to each peer. A message travels in the lane of its tag; a lost packet delays only its own lane."},
		param.Spec{Name: "pml_ordering", Kind: param.Enum, Choices: []string{"strict", "relaxed"}, Default: "strict", Level: param.User,
			Help: "What a receive for any tag takes: strict, the oldest message, as MPI demands; relaxed, the one that has arrived first."},
		param.Spec{Name: "pml_copy_limit", Kind: param.Size, Default: "64K", Min: "0", Max: "1M", Unit: "bytes", Level: param.Tuner,
			Help: "Messages up to this length are copied, so that their send completes as soon as it is asked for; longer ones complete when the peer has acknowledged them; if a call waits for that for long, they are copied after all, and up to 512K at once where one is answered by its like. Over shared memory that takes less time than a copy unless ranks outnumber processors, so only messages up to 4K are copied there. Over udp and sctp, to a peer over a path that is known to carry less than 2 Gbit/s, messages up to pml_eager_awaited are, in half of pml_copy_pool."},
		param.Spec{Name: "pml_copy_pool", Kind: param.Size, Default: "16M", Min: "0", Max: "1G", Unit: "bytes", Level: param.Tuner,
			Help: "Memory for those copies, for all peers together. Without room a message is sent from its own buffer."},
		param.Spec{Name: "pml_eager_max", Kind: param.Size, Default: "256K", Min: "0", Max: "1M", Unit: "bytes", Level: param.Tuner,
			Help: "Longest message sent at once, with no rendezvous, over a reliable ordered transport while the receiver's credit lasts, where that is more than the transport's own limit (btl_tcp_eager_limit), and that one is not set."},
		param.Spec{Name: "pml_eager_awaited", Kind: param.Size, Default: "1M", Min: "0", Max: "1M", Unit: "bytes", Level: param.Tuner,
			Help: "Longest message sent at once to a peer whose last receives were posted before their messages came, or over a path that is known to carry less than 2 Gbit/s, if there is one connection to it. It has no effect if pml_eager_max is 0, or beyond an eager limit that is set for the transport."},
		param.Spec{Name: "pml_credit_first", Kind: param.Size, Default: "256K", Min: "0", Max: "64M", Unit: "bytes", Level: param.Tuner,
			Help: "Memory for unexpected messages promised to every peer when it connects."},
		param.Spec{Name: "pml_credit_max", Kind: param.Size, Default: "16M", Min: "0", Max: "1G", Unit: "bytes", Level: param.Tuner,
			Help: "Most memory for unexpected messages promised to one peer, where pml_credit_first is no more. Unless it is set, one whose messages take a path that carries more than 2 Gbit/s, or that is not known to carry less, is promised 4M."},
		param.Spec{Name: "pml_unexpected_max", Kind: param.Size, Default: "64M", Min: "0", Max: "64G", Unit: "bytes", Level: param.User,
			Help: "Most memory for unexpected messages promised to all peers together, beyond the first grants. Senders are held back, not refused."},
		param.Spec{Name: "pml_buffered_max", Kind: param.Size, Default: "64M", Min: "0", Max: "64G", Unit: "bytes", Level: param.User,
			Help: "Memory for buffered sends (Bsend) that are on their way. Each takes its length, rounded up by at most a half, and 1 KB beside it."},
		param.Spec{Name: "pml_close_timeout", Kind: param.Duration, Default: "10s", Min: "1ms", Max: "1h", Level: param.User,
			Help: "How long closing a world waits for its own sends and for the peers' goodbyes. What takes longer is an error."},
		param.Spec{Name: "pml_rail_timeout", Kind: param.Duration, Default: "500ms", Min: "10ms", Max: "1h", Level: param.Tuner,
			Help: "How long one of several connections to a peer may give no sign of life while something is expected of it; what it had then goes over the others. Over a connection whose transport tells of a round trip longer than a third of that it is three round trips, 8 times this at the most. Unless it is set it is longer where the launcher says that a host has 16 ranks for each processor or more: up to 20 times."},
		param.Spec{Name: "pml_peer_timeout", Kind: param.Duration, Default: "30s", Min: "0s", Max: "24h", Level: param.User,
			Help: "By when a peer that something depends on counts as failed if it gives no sign of life, or the launcher does not say where it is; at half of that a new connection is tried in the place of one that is silent. 0 waits for ever for a peer that was connected before. A process that is stopped, in a debugger say, gives no sign of life."},
		param.Spec{Name: "pml_failover", Kind: param.String, Level: param.User,
			Help: "Transports that stand by: where another one of higher exclusivity serves a peer, they take over while no connection of that one works. A list (udp, ^udp), or none; empty, all that are in use."},
		param.Spec{Name: "progress_spin", Kind: param.Duration, Default: "200us", Min: "0s", Max: "1h", Level: param.User,
			Help: "How long a waiting call polls before it gives up the processor. For a while it parks after 100us when others need the processor, and at once if ranks outnumber processors or are bound to one. Where the launcher says that this host has more ranks than processors, what others that wait have of that time does not count."},
		param.Spec{Name: "progress_move", Kind: param.Bool, Default: "true", Level: param.Tuner,
			Help: "Whether the thread of a waiting call that shares its processor with another spinning one is moved to another processor, of those that it may use. It changes the thread's affinity for a moment; say no where something else sets that. Where the launcher says that this host has more ranks than processors none is moved."},
		param.Spec{Name: "progress_tick", Kind: param.Duration, Default: "200us", Min: "10us", Max: "1ms", Level: param.Developer,
			Help: "How long held-back frames wait at the most while the program makes no call; when it turns from much talk to computing it may be 64 times that, and 4 times that for a second or more from then on."},
	)
}

// tunables are the parameters' values, in the form the message layer uses.
type tunables struct {
	failover      failover
	lanes         int
	copyLimit     int
	copyPool      int
	eagerMax      int
	eagerAwaited  int
	creditFirst   uint32      // units
	creditMax     uint32      // units
	creditNear    uint32      // likewise, over a way that is not known to be slow; 0: as many
	unexpectedMax credit.Pool // units
	bufferedMax   int64
	closeTimeout  time.Duration
	railTimeout   time.Duration
	peerTimeout   time.Duration
}

// eagerAwaited is 0 for those who want every message beyond the transport's eager limit to ask.
func eagerAwaited(v *param.Values) int {
	if v.Size("pml_eager_max") == 0 {
		return 0
	}
	return int(v.Size("pml_eager_awaited"))
}

// creditNear is 0 if the user has set what is promised.
func creditNear(v *param.Values) uint32 {
	if v.Value("pml_credit_max").Source.Kind != param.Default {
		return 0
	}
	return credit.Ample
}

func tunablesFrom(v *param.Values) (tunables, error) {
	failover, err := failoverFrom(v.Value("pml_failover"))
	return tunables{
		failover:      failover,
		lanes:         v.Int("pml_lanes"),
		copyLimit:     int(v.Size("pml_copy_limit")),
		copyPool:      int(v.Size("pml_copy_pool")),
		eagerMax:      int(v.Size("pml_eager_max")),
		eagerAwaited:  eagerAwaited(v),
		creditFirst:   uint32(v.Size("pml_credit_first") / credit.Unit),
		creditMax:     uint32(v.Size("pml_credit_max") / credit.Unit),
		creditNear:    creditNear(v),
		unexpectedMax: credit.Pool(v.Size("pml_unexpected_max") / credit.Unit),
		bufferedMax:   v.Size("pml_buffered_max"),
		closeTimeout:  v.Duration("pml_close_timeout"),
		railTimeout:   v.Duration("pml_rail_timeout"),
		peerTimeout:   v.Duration("pml_peer_timeout"),
	}, err
}
