# Every target that a person calls has its description after ##; make help
# collects them.

# What was compiled in one checkout serves another one: no path is in it.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

FUZZTIME ?= 20s
FUZZWITHIN ?= 0
BENCHTIME ?= 1s

# Packages without a system call of their own, whose tests run on 32 bits too.
PURE := ./btl ./internal/lab/emulate ./internal/layout ./param/... ./pml/... ./selection/...

# Modules of their own: transports of somebody else's.
MODULES := examples/hello-transport examples/quic

.DEFAULT_GOAL := help
.PHONY: help build profile demo demo-wordfreq test test-tree test-twins test-modules test-tcp race race-tree race-modules net test-kernel interop lint fuzz bench bench-peers chaos soak docs vet-cross clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# With a C compiler at hand Go would link the C library, for names of hosts: an answer of
# /etc/hosts or DNS is the same without, one that only a plug-in of the C library has (LDAP, mDNS) is not found.
build: export CGO_ENABLED = 0
build: ## the command strand and the example programs, in bin/, without the C library
	go build -pgo="$(CURDIR)/cmd/strand/default.pgo" -o bin/ ./cmd/... ./examples/...

profile: ## cmd/strand/default.pgo anew, by which the command is compiled; in about two minutes
	tools/profile.sh

demo: build ## TCP, UDP and SCTP compared over good and bad networks, in about a minute; needs no root
	bin/strand compare --ranks 4 --workload 'pingpong(rounds=40),farm(ordering=relaxed)' --tasks 200 --loss 0,1 --delay 2ms --rate 1gbit --runs 6 --out bin/demo --overwrite

demo-wordfreq: build ## count the words of Go's own sources on 4 processes over TCP and check the result
	bin/strand run -n 4 --btl tcp,self bin/wordfreq

# The packages whose tests take longest begin first, so that the end does not wait for one of them:
# in turn such as wait for networks and such as compute.
LONG := ./btl/sctp ./btl/sctp/internal/interop ./internal/test/world/members ./strandcmd ./btl/udp ./btl/tcp ./conformance ./internal/test/programs \
	./internal/launcher/job ./internal/lab/bench ./internal/lab/network ./internal/lab/compare ./internal/test/launchertest

# Packages that are nothing but tests on networks of their own: make net.
NETTEST := internal/test/nettest
LONGNET := $(addprefix ./$(NETTEST)/,contact failures rates recovery tryout)

# Nobody debugs these binaries, and a traceback has its lines without DWARF and symbols: they are linked in six tenths of the time.
LINK := -ldflags=-s
# What go vet finds is for make lint, and make vet-cross: they look at everything but the modules.
NOVET := -vet=off

# The binaries of tests stay here, a gigabyte: go test links only those anew of which something has changed, or whose tests failed.
BINARIES := bin/tests/
# Two packages of one name have no room in one folder: these have their own.
TWINS := ./cmd/strand ./internal/sctp ./internal/lab/wire

# Tests wait more than they compute: four packages at a time keep two processors busy.
PACKAGES := $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))

# Without the C library, as the command is built: binaries are linked and start sooner. The race detector needs it.
test test-tree test-twins test-modules test-tcp net: export CGO_ENABLED = 0

test: ## all tests but those of make net; needs neither root nor other programs, takes some three minutes on two processors
	@$(MAKE) --no-print-directory -j 2 test-tree test-modules test-twins

test-tree:
	go test $(LINK) $(NOVET) -o $(BINARIES) -count=1 -timeout 10m -p $(PACKAGES) $(LONG) \
		$$(go list ./... | grep -v '/$(NETTEST)' | grep -vxF "$$(go list $(TWINS))")

test-twins:
	go test $(LINK) $(NOVET) -o $(BINARIES)twins/ -count=1 -timeout 10m $(TWINS)

test-modules:
	$(foreach m,$(MODULES),go -C $(m) test $(LINK) -o $(CURDIR)/$(BINARIES)$(notdir $(m))/ -count=1 -timeout 5m -p 1 ./... &&) true

test-tcp: ## the tests of the public interface and under launchers with TCP between ranks of one host, where memory is the default
	STRAND_BTL=tcp,self go test $(LINK) $(NOVET) -o $(BINARIES) -count=1 -timeout 5m -p $(PACKAGES) ./internal/test/world/... ./internal/test/launchertest

race: ## all tests, those of make net too, under the race detector
	@$(MAKE) --no-print-directory -j 2 race-tree race-modules

race-tree:
	go test $(LINK) $(NOVET) -race -count=1 -timeout 20m $(LONG) $(LONGNET) ./...

race-modules:
	$(foreach m,$(MODULES),go -C $(m) test $(LINK) -race -count=1 -timeout 15m -p 1 ./... &&) true

net: ## the tests on networks of their own, one package at a time; needs the superuser or user namespaces
	go test $(LINK) $(NOVET) -count=1 -timeout 10m -p 1 ./internal/lab/emulate/... ./internal/lab/netspace ./internal/test/testnet/... ./$(NETTEST)/...

# Packages with tests of what only some kernels have; package need tells.
KERNEL := ./internal/test/need ./internal/sctpsock ./btl/sctp ./btl/sctp/internal/kernel ./btl/sctp/internal/interop ./internal/lab/network ./internal/lab/accuracy \
	./internal/lab/compare ./internal/test/programs ./internal/test/kerneltest

test-kernel: ## the tests of the kernel's SCTP and netem, in a virtual machine; needs qemu-system-x86 busybox-static iproute2 and apt
	go run ./tools/kernelvm -limit 9m -- $(KERNEL) -v -run Kernel

interop: ## the table of who talks to SCTP in user space (docs/results/sctp.md); needs what test-kernel needs, and gcc and libusrsctp-dev
	@docs/results/interop.sh

# The linter's cache keeps the absolute paths of files: what a clone that is gone has left
# there brings back findings whose exceptions can not be read. So each checkout, where it lies, has its own.
lint: export GOLANGCI_LINT_CACHE = $(CURDIR)/bin/lint$(CURDIR)
lint: ## golangci-lint with the layer rule (builds the linter once: about 75 s)
	go tool -modfile=tools/lint/go.mod golangci-lint run
	go mod tidy -diff
	$(foreach m,$(MODULES),go -C $(m) mod tidy -diff &&) true

fuzz: ## every fuzzer of every package, FUZZTIME each (20s), or less if all have to end within FUZZWITHIN
	go run ./tools/fuzzall -time $(FUZZTIME) -within $(FUZZWITHIN) ./...

bench: build ## Go benchmarks with allocations, then strand against raw sockets
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	bin/strand bench pingpong --against raw
	bin/strand bench rate

# What was measured; the page itself is no change of it.
COMMIT = $(shell git rev-parse --short=12 HEAD)$(shell git diff --quiet HEAD -- . ':!docs' || echo -modified)

# PEERS are flags of strand bench peers: PEERS='--limit 15m', PEERS=--quick, PEERS=--resume.
bench-peers: build ## docs/PERFORMANCE.md: beside Open MPI, MPICH and raw sockets, in up to 25 minutes; PEERS='--limit 15m' or --quick: less
	bin/strand bench peers --out docs/PERFORMANCE.md --commit="$(COMMIT)" $(PEERS)

CHAOS ?= 15m

chaos: ## simulated networks at their worst, with new seeds, seven times CHAOS=15m; STRANDTEST_SEED=42 repeats one
	STRANDTEST_FOR=$(CHAOS) go test $(LINK) $(NOVET) -count=1 -timeout 0 -p 1 -v -run 'TestWhateverTheNetworkDoes$$|TestWhateverTheWeather$$|TestDeliveredIsWhatWasSent$$' ./internal/recovery ./internal/sctp/...

soak: ## the long forms: STRANDTEST_SOAK=1 go test, then chaos and 10 minutes of each fuzzer; takes hours
	STRANDTEST_SOAK=1 go test $(LINK) $(NOVET) -count=1 -timeout 0 ./...
	$(MAKE) chaos
	$(MAKE) fuzz FUZZTIME=10m

docs: ## the generated pages: docs/PARAMETERS.md, and what is public, docs/api
	go generate ./...

vet-cross: ## vet for other systems and processors; test the pure packages, and shared memory, on 32 bits, where such programs run
	GOOS=darwin go vet ./...
	GOOS=freebsd go vet ./...
	GOARCH=arm64 go vet ./...
	GOARCH=arm64 go build ./...
	GOARCH=386 go vet ./...
	@only=; if GOARCH=386 go test $(LINK) $(NOVET) -count=1 -run '^$$' ./btl 2>&1 | grep -q 'exec format error'; then \
		echo 'The tests on 32 bits are built but not run: this machine runs no programs of 386 (exec format error).'; only='-exec true'; \
	fi; GOARCH=386 go test $(LINK) $(NOVET) -count=1 $$only $(PURE) ./btl/sm

clean: ## remove what was built
	rm -rf bin
