// Command kernelvm runs Go tests on a Debian kernel of its own, in a virtual
// machine without hardware help, for what the kernel at hand may not have: SCTP,
// and delay and loss by netem.
//
//	go run ./tools/kernelvm -- ./internal/sctpsock -run Loss -v
//
// The first arguments after -- are packages, the rest flags of go test. Nothing
// is installed: the kernel comes from the archive that apt knows, into a folder
// of the user's cache. The status is that of the tests.
//
// The machine has the superuser alone, a loopback interface, the modules named by
// -modules, busybox, ip, tc and ss. Its processors are emulated: expect a tenth
// of the speed. If its kernel locks up, another machine runs what is left, once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// defaultModules are what the tests need beyond what is built in: nf_tables,
// nft_numgen and nft_limit for the losses of internal/test/testnet; and kinds of interfaces.
const defaultModules = "sctp,sctp_diag,sch_netem,sch_tbf,bridge,veth,tun,nf_tables,nft_numgen,nft_limit," +
	"8021q,ipvlan,wireguard,ip_gre,ipip"

// settings are the command line.
type settings struct {
	modules    []string
	processors int
	memory     int // MB
	limit      time.Duration
	cache      string
	packages   []string
	testFlags  []string
}

func main() {
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = s.run(ctx)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernelvm:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	s := new(settings)
	f := flag.NewFlagSet("kernelvm", flag.ContinueOnError)
	modules := f.String("modules", defaultModules, "kernel modules to load, after those that they depend on")
	f.IntVar(&s.processors, "processors", 2, "processors of the machine")
	f.IntVar(&s.memory, "memory", 1024, "memory of the machine, in MB")
	f.DurationVar(&s.limit, "limit", 5*time.Minute, "how long the machine may take")
	f.StringVar(&s.cache, "cache", "", "folder that keeps the kernel (default strand-kernelvm in the user's cache)")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: kernelvm [flags] -- packages [flags of go test]\n")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	s.modules = strings.FieldsFunc(*modules, func(r rune) bool { return r == ',' })
	s.packages, s.testFlags = split(f.Args())
	if len(s.packages) == 0 {
		return nil, errors.New("no packages to test: kernelvm [flags] -- packages [flags of go test]")
	}
	if s.processors < 1 || s.memory < 256 || s.limit < 30*time.Second {
		return nil, fmt.Errorf("-processors %d -memory %d -limit %v: want at least 1, 256 and 30s", s.processors, s.memory, s.limit)
	}
	if s.cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no folder to keep a kernel in: %w: set -cache", err)
		}
		s.cache = filepath.Join(base, "strand-kernelvm")
	}
	return s, nil
}

// split tells packages from flags, which a test binary knows by a longer name:
// go test's -v is its -test.v.
func split(args []string) (packages, flags []string) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			return args[:i], testFlags(args[i:])
		}
	}
	return args, nil
}

func testFlags(args []string) []string {
	flags := make([]string, 0, len(args))
	for i, a := range args {
		if a == "-args" || a == "--args" {
			return append(flags, args[i+1:]...)
		}
		if name := strings.TrimLeft(a, "-"); name != a && !strings.HasPrefix(name, "test.") {
			a = "-test." + name
		}
		flags = append(flags, a)
	}
	return flags
}
