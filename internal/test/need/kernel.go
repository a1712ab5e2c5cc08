package need

import (
	"os"
	"testing"
)

// kernelMachine reports whether this is the virtual machine of make test-kernel,
// whose kernel has all that tests need of one.
func kernelMachine() bool { return os.Getenv("STRANDTEST_KERNEL") == "1" }

// KernelSCTP is for tests that use the kernel's SCTP, which many kernels do not
// have. They run in the virtual machine of make test-kernel, a part of CI, and
// must not be skipped there; elsewhere they are, in CI too.
func KernelSCTP(t testing.TB) {
	t.Helper()
	kernelHas(t, "SCTP", kernelSCTP())
}

// KernelMachine is for tests of the kernel's SCTP that change how a whole system is set
// up, or depend on that: they run in the virtual machine alone.
func KernelMachine(t testing.TB) {
	t.Helper()
	if !kernelMachine() {
		t.Skip("needs a system to itself, runs by make test-kernel")
	}
}

// KernelNetem is for tests that have found out that the kernel has no netem, or that it
// has: missing is why not. It is as for [KernelSCTP].
func KernelNetem(t testing.TB, missing error) {
	t.Helper()
	kernelHas(t, "netem", missing)
}

// kernelHas skips a test for whose sake there is a virtual machine, or fails it
// there.
func kernelHas(t testing.TB, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case kernelMachine():
		t.Fatalf("STRANDTEST_KERNEL=1 says that this kernel has all that tests need, but it does not have %s: %v", what, err)
	default:
		t.Skipf("needs a kernel with %s, runs by make test-kernel: %v", what, err)
	}
}
