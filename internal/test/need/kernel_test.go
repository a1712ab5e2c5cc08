package need

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func lacking(t testing.TB) { kernelHas(t, "SCTP", syscall.EPROTONOSUPPORT) }

// What the virtual machine is there for is skipped elsewhere, even where nothing
// else may be.
func TestWhatOnlyTheMachineHas(t *testing.T) {
	t.Setenv("STRANDTEST_KERNEL", "")
	t.Setenv("STRANDTEST_CI", "1")
	r := run(lacking)
	assert.Contains(t, r.skipped, "needs a kernel with SCTP, runs by make test-kernel: protocol not supported")
	assert.Empty(t, r.failed)
	r = run(KernelMachine)
	assert.Contains(t, r.skipped, "runs by make test-kernel")

	t.Setenv("STRANDTEST_KERNEL", "1")
	r = run(lacking)
	assert.Contains(t, r.failed, "does not have SCTP: protocol not supported")
	assert.Empty(t, r.skipped)
	r = run(KernelMachine)
	assert.Empty(t, r.skipped+r.failed)
}

func TestWhatIsThere(t *testing.T) {
	r := run(func(t testing.TB) { kernelHas(t, "SCTP", nil) })
	assert.Empty(t, r.skipped+r.failed)
}

// In the machine this fails instead of being skipped.
func TestKernelSCTP(t *testing.T) { KernelSCTP(t) }
