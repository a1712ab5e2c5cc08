package sctp

import (
	"fmt"
	"strconv"
	"time"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/wireup"
)

// Names of the parameters.
const (
	prefixOfAll      = "btl_sctp_"
	pStack           = prefixOfAll + "stack"
	pPortMin         = prefixOfAll + "port_min"
	pStreams         = prefixOfAll + "streams"
	pOutstanding     = prefixOfAll + "outstanding"
	pSndbuf          = prefixOfAll + "sndbuf"
	pRcvbuf          = prefixOfAll + "rcvbuf"
	pNoDelay         = prefixOfAll + "nodelay"
	pRTOInitial      = prefixOfAll + "rto_initial"
	pRTOMin          = prefixOfAll + "rto_min"
	pRTOMax          = prefixOfAll + "rto_max"
	pHeartbeat       = prefixOfAll + "hb_interval"
	pPathMaxRetrans  = prefixOfAll + "path_max_retrans"
	pAssocMaxRetrans = prefixOfAll + "assoc_max_retrans"
	pAutoclose       = prefixOfAll + "autoclose"
	pMaxFrame        = prefixOfAll + "max_frame"
	pEagerLimit      = prefixOfAll + "eager_limit"
	pInterleave      = prefixOfAll + "interleave"
	pScheduler       = prefixOfAll + "scheduler"
	pPriorities      = prefixOfAll + "priorities"
	pEncapPort       = prefixOfAll + "encap_port"
	pMTU             = prefixOfAll + "mtu"
	pLoopbackMTU     = prefixOfAll + "mtu_loopback"
	pCongestion      = prefixOfAll + "congestion"
	pMultipath       = prefixOfAll + "cmt"
	pZeroChecksum    = prefixOfAll + "zero_checksum"
)

// config is the values of the parameters.
type config struct {
	stack        string
	stackSetting string
	streams      int
	maxFrame     int
	eagerLimit   int
	eagerFixed   bool // by the user
	tuning       stack.Tuning
	interleave   string // auto, on, off
}

// readConfig reads them.
func readConfig(v *param.Values) (c config, err error) {
	c = config{
		stack: v.String(pStack), stackSetting: v.Value(pStack).String(),
		streams:    v.Int(pStreams),
		maxFrame:   int(v.Size(pMaxFrame)),
		eagerLimit: int(v.Size(pEagerLimit)),
		eagerFixed: v.Value(pEagerLimit).Source.Kind != param.Default,
		interleave: v.String(pInterleave),
	}
	c.tuning = readTuning(v, c)
	if c.tuning.Priorities, err = readPriorities(v); err != nil {
		return c, err
	}
	return c, checkBuffers(v, c)
}

func readTuning(v *param.Values, c config) stack.Tuning {
	scheduler := v.String(pScheduler)
	if scheduler == "auto" {
		scheduler = ""
	}
	return stack.Tuning{
		Streams:     c.streams + 1, // and the control stream
		MaxMessage:  prefixSize + maxHeader + max(c.maxFrame, wireup.MaxMessage),
		Outstanding: int(v.Size(pOutstanding)), MostOutstanding: mostOutstanding(v),
		SendBuffer: int(v.Size(pSndbuf)), ReceiveBuffer: int(v.Size(pRcvbuf)),
		Delay:      !v.Bool(pNoDelay),
		RTOInitial: v.Duration(pRTOInitial), RTOMin: v.Duration(pRTOMin), RTOMax: v.Duration(pRTOMax),
		Heartbeat:      v.Duration(pHeartbeat),
		PathMaxRetrans: v.Int(pPathMaxRetrans), AssocMaxRetrans: v.Int(pAssocMaxRetrans),
		Autoclose:   wholeSeconds(v.Duration(pAutoclose)),
		Interleave:  c.interleave == "on",
		Scheduler:   scheduler,
		EncapPort:   v.Int(pEncapPort),
		MTU:         v.Int(pMTU),
		LoopbackMTU: v.Int(pLoopbackMTU),
		Congestion:  v.String(pCongestion), Multipath: v.Bool(pMultipath), ZeroChecksum: v.Bool(pZeroChecksum),
	}
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// farOutstanding is what may be under way over a long way unless the user has set a bound: 100 Mbit/s with a round trip of
// 80 ms take 1 MB, and two such ways two.
const farOutstanding = 8 << 20

func mostOutstanding(v *param.Values) int {
	if set := v.Value(pOutstanding); set.Source.Kind != param.Default {
		return int(v.Size(pOutstanding))
	}
	return farOutstanding
}

// readPriorities reads the places, or weights, of the lanes.
func readPriorities(v *param.Values) ([]uint16, error) {
	s := v.String(pScheduler)
	least, what := uint64(0), "place among the lanes"
	if s == "wfq" {
		least, what = 1, "weight"
	}
	var all []uint16
	for _, text := range v.List(pPriorities) {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n < least {
			return nil, fmt.Errorf("%s: %q is no %s: want numbers from %d to 65535", v.Value(pPriorities), text, what, least)
		}
		all = append(all, uint16(n))
	}
	if all != nil && s != "prio" && s != "wfq" {
		return nil, fmt.Errorf("%s has no meaning with %s: the schedulers prio and wfq go by it", v.Value(pPriorities), v.Value(pScheduler))
	}
	return all, nil
}

// usualRTOMax is the longest time to a retransmission in all stacks, unless it is set (RFC 9260, section 16).
const usualRTOMax = time.Minute

// checkBuffers refuses a receive buffer that half-arrived messages, one on each
// stream, could fill: nothing would ever move again. It also refuses an rto_min above
// rto_max.
func checkBuffers(v *param.Values, c config) error {
	need := int64(c.streams+2) * int64(c.tuning.MaxMessage)
	if got := int64(c.tuning.ReceiveBuffer); got > 0 && got < need {
		return fmt.Errorf("%s is too small for a frame on each stream to be half arrived (%s, %s): at least %d are needed, or 0 for the default",
			v.Value(pRcvbuf), v.Value(pStreams), v.Value(pMaxFrame), need)
	}
	switch least, most := c.tuning.RTOMin, c.tuning.RTOMax; {
	case most > 0 && least > most:
		return fmt.Errorf("%s is above %s: lower the one or raise the other", v.Value(pRTOMin), v.Value(pRTOMax))
	case most == 0 && least > usualRTOMax:
		return fmt.Errorf("%s is above %v, which is the longest time where %s is 0: lower the one or set the other", v.Value(pRTOMin), usualRTOMax, pRTOMax)
	}
	return nil
}
