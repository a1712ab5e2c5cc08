package members_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/strandmp/strand"
)

const (
	victim = 1
	tagDie = 1000
	// tagNever is of messages that nobody sends, or receives.
	tagNever = 1001
)

func init() {
	rankPrograms["dependents"] = dependents
	rankPrograms["long messages"] = longMessages
}

// What depends on a process that is killed ends with an error that names it;
// everything else goes on.
func killedRank(t *testing.T) { runProcesses(t, "dependents", 3, victim) }

// The same in the middle of long messages: the buffers are the caller's again.
func rankKilledDuringLongMessages(t *testing.T) { runProcesses(t, "long messages", 3, victim) }

// die waits for the word and ends the process as a crash would: the system
// closes its sockets, nobody says goodbye.
func die(ctx context.Context, c *strand.Comm) error {
	if _, err := c.Recv(ctx, nil, 0, tagDie); err != nil {
		return err
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	<-ctx.Done()
	return errors.New("survived")
}

// checkFailed checks that an error says that the victim has failed.
func checkFailed(what string, err error) error {
	var failed *strand.PeerFailedError
	if !errors.As(err, &failed) || !errors.Is(err, strand.ErrPeerFailed) {
		return fmt.Errorf("%s: %w, not a PeerFailedError", what, err)
	}
	host, _ := os.Hostname()
	if failed.Rank != victim || failed.Host != host || failed.Cause == nil {
		return fmt.Errorf("%s: %w, not rank %d on %s with a cause", what, failed, victim, host)
	}
	return nil
}

func dependents(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	d, err := c.Dup(ctx)
	if err != nil {
		return err
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	switch c.Rank() {
	case victim:
		return die(ctx, c)
	case 2:
		return bystander(ctx, c)
	}
	ended := make(chan error, 8)
	watch := func(what string, f func() error) { go func() { ended <- checkFailed(what, f()) }() }
	watch("Recv", func() error { _, err := c.Recv(ctx, nil, victim, tagNever); return err })
	watch("Recv on a duplicate", func() error { _, err := d.Recv(ctx, nil, victim, tagNever); return err })
	watch("Recv from any source", func() error { _, err := c.Recv(ctx, nil, strand.AnySource, tagNever); return err })
	watch("Probe", func() error { _, err := c.Probe(ctx, victim, tagNever); return err })
	watch("Mprobe from any source", func() error { _, err := c.Mprobe(ctx, strand.AnySource, tagNever); return err })
	watch("Ssend", func() error { return c.Ssend(ctx, nil, victim, tagNever) })
	watch("long Send", func() error { return c.Send(ctx, make([]byte, 8<<20), victim, tagNever) })
	other, err := c.Irecv(make([]byte, 5), 2, 1)
	if err != nil {
		return err
	}
	if err := c.Send(ctx, nil, victim, tagDie); err != nil {
		return err
	}
	for range 7 {
		if err := <-ended; err != nil {
			return err
		}
	}
	return survive(ctx, w, c, d, other)
}

// survive checks what rank 0 can and can not do when the victim is gone.
func survive(ctx context.Context, w *strand.World, c, d *strand.Comm, other strand.Request) error {
	for _, call := range calls {
		if call.name == "Sendrecv" {
			continue // its other half names somebody else
		}
		if err := checkFailed(call.name, call.do(ctx, c, victim, 1)); err != nil {
			return err
		}
		if call.sends {
			continue
		}
		if err := checkFailed(call.name+" from any source", call.do(ctx, c, strand.AnySource, 1)); err != nil {
			return err
		}
	}
	if err := c.AckFailed(); err != nil {
		return err
	}
	any, err := c.Irecv(make([]byte, 5), strand.AnySource, 2)
	if err != nil {
		return fmt.Errorf("a receive from any source after AckFailed: %w", err)
	}
	_, err = d.Irecv(nil, strand.AnySource, 2)
	if err := checkFailed("the duplicate, of which nobody took note", err); err != nil {
		return err
	}
	if err := c.Send(ctx, []byte("go on"), 2, 1); err != nil {
		return err
	}
	if _, err := other.Wait(ctx); err != nil {
		return fmt.Errorf("a receive from another: %w", err)
	}
	if st, err := any.Wait(ctx); err != nil || st.Source != 2 {
		return fmt.Errorf("a receive from any source: from rank %d, %w", st.Source, err)
	}
	return checkFailed("Recv", call(c.Recv(ctx, nil, victim, 1)))
}

func call(_ strand.Status, err error) error { return err }

// bystander hears of the failure only by what it does itself.
func bystander(ctx context.Context, c *strand.Comm) error {
	if _, err := c.Recv(ctx, make([]byte, 5), 0, 1); err != nil {
		return err
	}
	for tag := 1; tag <= 2; tag++ {
		if err := c.Send(ctx, []byte("going"), 0, tag); err != nil {
			return err
		}
	}
	_, err := c.Recv(ctx, nil, victim, tagNever)
	return checkFailed("Recv by another rank", err)
}

// longMessages has a rank die while it sends and receives.
func longMessages(ctx context.Context, w *strand.World) error {
	const n, messages = 16 << 20, 4
	c := w.Comm()
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	var reqs []strand.Request
	var bufs [][]byte
	for peer := range 3 {
		if c.Rank() == peer || c.Rank() == 2 || peer == 2 {
			continue // 0 and 1 talk to each other
		}
		for tag := range messages {
			in, out := make([]byte, n), make([]byte, n)
			r, err := c.Irecv(in, peer, tag)
			if err != nil {
				return err
			}
			s, err := c.Isend(out, peer, tag)
			if err != nil {
				return err
			}
			reqs, bufs = append(reqs, r, s), append(bufs, in)
		}
	}
	switch c.Rank() {
	case victim:
		return die(ctx, c)
	case 2:
		_, err := c.Recv(ctx, nil, 0, 1)
		return err
	}
	if err := c.Send(ctx, nil, victim, tagDie); err != nil {
		return err
	}
	for _, r := range reqs {
		if _, err := r.Wait(ctx); err != nil {
			if err := checkFailed("a long message", err); err != nil {
				return err
			}
		}
	}
	// The buffers are ours, whatever was on its way.
	mark := bytes.Repeat([]byte{0xAA}, n)
	for _, b := range bufs {
		copy(b, mark)
	}
	if err := checkFailed("Recv", call(c.Recv(ctx, nil, victim, tagNever))); err != nil {
		return err
	}
	if err := c.Send(ctx, nil, 2, 1); err != nil {
		return err
	}
	for _, b := range bufs {
		if !bytes.Equal(b, mark) {
			return errors.New("a buffer was written to after its receive had ended")
		}
	}
	return nil
}
