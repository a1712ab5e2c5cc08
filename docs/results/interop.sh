#!/usr/bin/env bash
# The table of who talks to the user stack (docs/results/sctp.md): every peer in both roles. Those that run anywhere are tried here, and
# the kernel in the virtual machine of make test-kernel. It prints the table, what was seen meanwhile on stderr, and fails if anything has.
#
#   docs/results/interop.sh                     100 MB each way with loss; with the kernel, which is emulated, 1 MB
#   STRANDTEST_SOAK=1 docs/results/interop.sh   1 GB, and with the kernel 100 MB: a quarter of an hour
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1
seen=$(mktemp) && trap 'rm -f "$seen"' EXIT
status=0
try() { "$@" 2>&1 | tee -a "$seen" >&2 || status=1; }
try env STRANDTEST_CI=1 go test -count=1 -timeout 30m ./btl/sctp/internal/interop -run TestTable -v
try go run ./tools/kernelvm -limit 15m -- ./btl/sctp/internal/interop -run TestKernelTable -v
sed -n 's/^ *|/|/p' "$seen" | awk '!/^\| (ours|---)/ || NR < 3'
exit $status
