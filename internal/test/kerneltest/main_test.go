//go:build linux

package kerneltest_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { nettest.Main(m, roles, chooseUser, chooseStack) }

// anybodyVariable makes a rank no superuser.
const anybodyVariable = "KERNELTEST_ANYBODY"

func isAnybody() bool { return os.Getenv(anybodyVariable) != "" }

func chooseUser() error {
	if !isAnybody() {
		return nil
	}
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// mixVariable names the one rank that has the kernel's SCTP. That rank uses the port to which
// the user stack of the others addresses its packets.
const mixVariable = "KERNELTEST_KERNEL"

func chooseStack() error {
	switch os.Getenv(mixVariable) {
	case "":
		return nil
	case os.Getenv("PMI_RANK"):
		return os.Setenv("STRAND_BTL_SCTP_PORT_MIN", "5000")
	}
	return os.Setenv("STRAND_BTL_SCTP_STACK", "user")
}

var roles = map[string]nettest.Role{
	"crowd":    crowd,
	"overtake": overtake,
	"stream":   stream,
	"withhold": withhold,
	"mix":      mix,
	"idle":     idle,
	"stop":     stop,
	"meet":     meet,
}

// play makes a job of ranks that play a role of this test binary over the
// kernel's SCTP.
func play(t *testing.T, role string, placement []*testnet.Host, env ...string) nettest.Job {
	t.Helper()
	need.KernelSCTP(t)
	return playOver("kernel", role, placement, env...)
}

// playOver does the same over either stack.
func playOver(stack, role string, placement []*testnet.Host, env ...string) nettest.Job {
	return nettest.Play(role, placement, append([]string{
		"STRAND_BTL=sctp,self", "STRAND_BTL_SCTP_STACK=" + stack,
		// Many processes share emulated processors.
		"STRAND_PROGRESS_SPIN=0s", "STRAND_BTL_SCTP_CONNECT_TIMEOUT=1m", "STRAND_BTL_SCTP_HANDSHAKE_TIMEOUT=1m",
	}, env...)...)
}
