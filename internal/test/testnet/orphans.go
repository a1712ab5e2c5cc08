//go:build linux

package testnet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ownerEnv names, to whatever runs on a host, the test process that the host
// belongs to. A process that a rank has started outlives both if the test is
// killed, and would hold the host for ever: the next test process ends it.
const ownerEnv = "TESTNET_OWNER"

// owner is a process identifier that is not used again: with the time of the
// process's start, in ticks since the machine's.
func owner(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field, a name in parentheses, may contain anything.
	const start = 22 - 3 // of proc_pid_stat(5), from the third on
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start {
		return "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fmt.Sprintf("%d/%s", pid, fields[start]), nil
}

// thisProcess is owner of this one.
func thisProcess() string {
	name, err := owner(os.Getpid())
	if err != nil {
		return "" // nobody's: nothing is ever killed for it
	}
	return name
}

// endOrphans kills what test processes have left that are no more. What belongs
// to other users stays.
func endOrphans() {
	for _, pid := range processes() {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		for entry := range bytes.SplitSeq(environ, []byte{0}) {
			if name, value, _ := strings.Cut(string(entry), "="); name == ownerEnv && !alive(value) {
				_ = unix.Kill(pid, unix.SIGKILL) // it may have ended in the meantime
			}
		}
	}
}

func alive(wanted string) bool {
	number, _, _ := strings.Cut(wanted, "/")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return true // no name of ours
	}
	found, err := owner(pid)
	return err == nil && found == wanted
}

// processes lists all but this one.
func processes() (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, e := range entries {
		if pid, err := strconv.Atoi(filepath.Base(e)); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// inside lists the other processes of a network.
func inside(network os.FileInfo) (pids []int) {
	for _, pid := range processes() {
		there, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil && os.SameFile(network, there) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killTime is a watchdog.
const killTime = 30 * time.Second

// kill ends all processes on the host, among them any that are being started,
// and returns when none is left.
func (h *Host) kill() error {
	network, err := h.ns.Net().Stat()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(killTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		pids := inside(network)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("host %s: processes %v are still there %v after SIGKILL", h.name, pids, killTime)
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("host %s: process %d: %w", h.name, pid, err)
			}
		}
		<-tick.C
	}
}
