package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/launch"
)

// roleEnv makes this test binary a rank instead of a test.
const roleEnv = "LOCAL_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == remote.Arguments[0] {
		playElsewhere()
		return
	}
	name := os.Getenv(roleEnv)
	if name == "" {
		goleak.VerifyTestMain(m)
		return
	}
	play, found := roles[name]
	if !found {
		fmt.Fprintf(os.Stderr, "%s=%s: no such role\n", roleEnv, name)
		os.Exit(99)
	}
	play()
}

// forever is how long a rank waits that is meant to be ended from outside. It is a watchdog for
// tests that went wrong.
const forever = 5 * time.Minute

var roles = map[string]func(){
	"launcher":             playLauncher,
	"launcher elsewhere":   playLauncherElsewhere,
	"launcher of shells":   playShells,
	"launcher of runaways": playRunaways,
	"starved":              playStarved,
	"busy":                 playBusy,
	"lines":                playLines,
	"copy":                 func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"environ":              func() { fmt.Println(strings.Join(os.Environ(), "\n")) },
	"garbage":              playGarbage,
	"leftover":             playLeftover,
	"signals":              playSignals,

	"exchange": joined(func(ctx context.Context, j launch.Job) error {
		if err := j.Put(ctx, fmt.Sprint("key ", j.Rank()), strings.Repeat("\x00", 5000+j.Rank())); err != nil {
			return err
		}
		if err := j.Barrier(ctx); err != nil {
			return err
		}
		got, err := j.Get(ctx, fmt.Sprint("key ", (j.Rank()+1)%j.Size()))
		fmt.Printf("%d %d of %d %s\n", len(got), j.Rank(), j.Size(), j.Launcher())
		return errors.Join(err, j.Close())
	}),
	// One rank ends in some way while the others wait for it.
	"exit":   failing(func(launch.Job) { os.Exit(3) }),
	"desert": failing(func(launch.Job) { os.Exit(0) }),
	"absent": func() {
		if os.Getenv("PMI_RANK") != "1" {
			joined(func(ctx context.Context, j launch.Job) error { return j.Barrier(ctx) })()
		}
	},
	"kill": failing(func(launch.Job) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }),
	"abort": failing(func(j launch.Job) {
		j.Abort(7, "no more work")
		os.Exit(0)
	}),
	"abort zero": failing(func(j launch.Job) {
		j.Abort(0, "no more work")
		os.Exit(0)
	}),
	"exit 7": playExitSeven,
	"part": failing(func(launch.Job) {
		closeSockets()
		<-time.After(forever)
	}),
	"survive": joined(playSurvive),

	"told: kill":  func() { playTold(func(*strand.World) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }) },
	"told: exit":  func() { playTold(func(*strand.World) { os.Exit(3) }) },
	"told: leave": func() { playTold(func(*strand.World) { os.Exit(0) }) },
	"told: close": playClosed,
	"told: last":  playLastWords,
	"unmet":       playUnmet,
	"leaving":     playLeaving,
	"told: term":  playToldAtTheEnd,
	"warn":        playWarn,
	"mistake":     func() { playMistake("btl", "nosuch") },
	"no network":  func() { playMistake("btl_tcp_if_include", "nosuch0") },
	"last warn":   joined(playLastWarning),
	"live":        playLive,
	"stuck":       playStuck,
	"waitedfor":   playWaitedFor,
	"no start":    playNoStart,
	"traced":      playTraced,

	"crowd: a few meet":   func() { playMeeting(false) },
	"crowd: all meet all": func() { playMeeting(true) },
}

// joined makes a role of a rank that joins its job.
func joined(play func(context.Context, launch.Job) error) func() {
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), forever)
		defer cancel()
		j, err := launch.FromEnvironment(ctx)
		if err == nil {
			err = play(ctx, j)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// failing makes rank 1 fail after all have joined; the others do not react to
// SIGTERM.
func failing(fail func(launch.Job)) func() {
	return joined(func(ctx context.Context, j launch.Job) error {
		signal.Ignore(syscall.SIGTERM)
		if err := j.Barrier(ctx); err != nil {
			return err
		}
		if j.Rank() == 1 {
			fail(j)
		}
		return j.Barrier(ctx)
	})
}

// closeSockets closes whatever this process may talk to its launcher by.
func closeSockets() {
	for fd := 3; fd < 64; fd++ {
		if _, err := syscall.Getsockname(fd); err == nil {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
	}
}

// playExitSeven is a program whose rank 2 exits while the others wait for it.
func playExitSeven() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		if w.Rank() != 2 {
			if err := c.Send(ctx, buf, 2, 1); err != nil {
				return err
			}
			_, err := c.Recv(ctx, buf, 2, 1)
			return err
		}
		for range w.Size() - 1 {
			if _, err := c.Recv(ctx, buf, strand.AnySource, 1); err != nil {
				return err
			}
		}
		os.Exit(7)
		return nil
	})
	if err != nil {
		os.Exit(1)
	}
}

// playSurvive waits for rank 2, which has died, and leaves in order.
func playSurvive(ctx context.Context, j launch.Job) error {
	if err := j.Barrier(ctx); err != nil {
		return err
	}
	if j.Rank() == 2 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	err := j.Barrier(ctx)
	if err == nil {
		return errors.New("a barrier without rank 2 completed")
	}
	fmt.Println("rank 2 is missed:", strings.Contains(err.Error(), "rank_2_has_failed"))
	return j.Close()
}

// playLines writes lines in pieces that are no lines.
func playLines() {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "<%s line %d %s>\n", os.Getenv("PMI_RANK"), i, strings.Repeat("x", i%100))
	}
	rest := text.String()
	for step := 1; rest != ""; step = step*7%301 + 1 {
		n := min(step, len(rest))
		_, _ = os.Stdout.WriteString(rest[:n])
		rest = rest[n:]
	}
}

func playGarbage() {
	fd, _ := strconv.Atoi(os.Getenv("PMI_FD"))
	_, _ = syscall.Write(fd, []byte("cmd=init pmi_version=1 pmi_subversion=1\nGET / HTTP/1.1\n"))
	<-time.After(forever)
}

// playLeftover leaves a process behind that holds its standard output.
func playLeftover() {
	cmd := exec.Command("sleep", "300")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Printf("pid %d\n", cmd.Process.Pid)
}

// playSignals says which signals arrive, and ends at SIGUSR2.
func playSignals() {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	fmt.Println("ready")
	for s := range c {
		fmt.Printf("got %v\n", s)
		if s == syscall.SIGUSR2 {
			os.Exit(0)
		}
	}
}

// playLauncher starts two ranks that say their pids and wait.
func playLauncher() { launchShells("echo pid $$; exec sleep 300") }

// playShells starts two ranks that are shells with children. One of the children has closed what
// it inherited from the rank.
func playShells() {
	launchShells(`sleep 300 & echo pid $!; sh -c 'exec 3>&- 4>&- 5>&-; echo pid $$; exec sleep 300'  & echo pid $$; wait; true`)
}

func launchShells(script string) {
	err := Run(context.Background(), Config{Ranks: 2, Program: "sh", Args: []string{"-c", script}, Stdout: os.Stdout, Stderr: os.Stderr})
	fmt.Println("launcher:", err)
}

// playRunaways starts two ranks below shells, in groups of their own.
func playRunaways() {
	self, _ := os.Executable()
	_ = os.Setenv(roleEnv, "busy")
	launchShells("setsid " + self + "; true")
}

// playBusy joins and computes.
func playBusy() {
	_ = strand.Run(context.Background(), func(context.Context, *strand.World) error {
		fmt.Println("pid", os.Getpid())
		for n := uint64(1); n != 0; n += 2 {
		}
		return nil
	})
}

// playStarved has rank 5 lose its descriptors before it talks to rank 0, when the others wait for it.
func playStarved() {
	err := strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		switch w.Rank() {
		case 0:
			_, err := c.Recv(ctx, buf, 5, 2)
			return err
		case 5:
			for rank := 1; rank < w.Size(); rank++ {
				if rank != 5 {
					if err := c.Ssend(ctx, buf, rank, 1); err != nil {
						return err
					}
				}
			}
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: 3}); err != nil {
				return err
			}
			return c.Ssend(ctx, buf, 0, 2)
		}
		for tag := 1; tag < 3; tag++ {
			if _, err := c.Recv(ctx, buf, 5, tag); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		os.Exit(1)
	}
}
