package strandcmd

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/tryout"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
)

// partTime is how long the command that reaches the other host may take to end after its input
// has ended.
const partTime = 5 * time.Second

// tryPeer has the command start strand on another host and tries with it which
// addresses can be connected.
func (r *reachRun) tryPeer(ctx context.Context, h tryout.Host, command []string, errs io.Writer) (result tryout.Result, err error) {
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "reach", "--answer")...)
	cmd.Stderr, cmd.WaitDelay = errs, partTime
	in, err := cmd.StdinPipe()
	if err != nil {
		return result, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := cmd.Start(); err != nil {
		return result, fmt.Errorf("--try: %w; give the command that starts strand on the other host, such as ssh node2 strand", err)
	}
	var settings []tryout.Setting
	for _, s := range r.settings {
		settings = append(settings, tryout.Setting{Name: s.Name, Text: s.Text})
	}
	result, err = tryout.Lead(ctx, out, in, h, r.timeout, settings)
	_ = in.Close() // the other side ends with its input
	hurry := time.AfterFunc(partTime, func() { _ = cmd.Process.Kill() })
	ended := cmd.Wait()
	hurry.Stop()
	switch why := explainEnd(command, ended); {
	case err == nil:
		return result, nil
	case why == nil:
		return result, fmt.Errorf("--try: %w", err)
	default:
		return result, fmt.Errorf("--try: %w: %w", err, why)
	}
}

// explainEnd says how the command that was to reach the other host has ended.
func explainEnd(command []string, ended error) error {
	if ended == nil {
		return nil
	}
	return fmt.Errorf("%s reach --answer: %w; it has to start strand, of this version, on the other host", strings.Join(command, " "), ended)
}

// answerTry is the part of the other host in a --try: strand reach --answer.
func answerTry(ctx context.Context, in io.Reader, out, errs io.Writer) error {
	return tryout.Follow(ctx, in, out, func(o tryout.Order) (tryout.Host, error) {
		var settings []param.Setting
		for _, s := range o.Settings {
			settings = append(settings, param.Setting{Name: s.Name, Text: s.Text,
				Source: param.Source{Kind: param.Flag, Where: "the command line of the other host"}})
		}
		values, err := resolve(settings)
		if err != nil {
			return tryout.Host{}, err
		}
		side, err := ownSide(values, warnTo(errs))
		if err != nil {
			return tryout.Host{}, err
		}
		return tryHost(values, side)
	})
}

// tryHost returns this host as a program here would use it, with the ports that it may listen
// on.
func tryHost(values *param.Values, side reach.Side) (tryout.Host, error) {
	h := tryout.Host{Name: machine.Hostname(), Side: side}
	if first := values.Int("btl_tcp_port_min"); first > 0 {
		count := values.Int("btl_tcp_port_range")
		if most := 65536 - first; count == 0 || count > most {
			count = most
		}
		h.Ports = tryout.Ports{First: first, Count: count}
	}
	return h, nil
}
