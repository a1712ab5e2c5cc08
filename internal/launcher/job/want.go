package job

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/strandmp/strand/internal/launcher/local"
)

// Programs of Go, and of others, end by themselves when they get no thread or no memory. Their last words are a dump that says
// little to whoever has set the limit.
const (
	noThread = "it could begin no thread: raise the limit of processes and threads of this user (ulimit -u, or pids.max of the container) " +
		"or that of address space (ulimit -v), or start fewer ranks on a host"
	noMemory = "it could get no memory: raise the limit of address space (ulimit -v), which takes about 2 GB for a program of Go, or start fewer ranks on a host"
	noFile   = "it could open no file: raise the limit of open files (ulimit -n)"
)

// lastWords are those of who ends for want of something.
var lastWords = []struct {
	text []byte
	lack string
}{
	{[]byte("pthread_create failed"), noThread},
	{[]byte("runtime: failed to create new OS thread"), noThread},
	{[]byte("fatal error: out of memory"), noMemory},
	{[]byte("fatal error: runtime: out of memory"), noMemory},
	{[]byte("fatal error: runtime: cannot allocate memory"), noMemory},
	{[]byte("fatal error: failed to reserve page summary memory"), noMemory},
	{[]byte("fatal error: runtime: eventfd failed"), noFile},
	{[]byte("fatal error: runtime: netpollinit failed"), noFile},
}

// A lack is what a rank has said that it lacks.
type lack struct{ said atomic.Pointer[string] }

// heed looks for last words in what a rank writes.
func (w *lack) heed(text []byte) {
	for i := range lastWords {
		if bytes.Contains(text, lastWords[i].text) {
			w.said.CompareAndSwap(nil, &lastWords[i].lack)
			return
		}
	}
}

// explainWant adds to the verdict what its rank lacked, if that is known. OutOfMemory is how many processes of this host had
// been ended for want of memory when the job began.
func (j *job) explainWant(verdict error, outOfMemory int) {
	failure, isRank := errors.AsType[*RankError](verdict)
	if !isRank || failure.Message != "" {
		return
	}
	killed := failure.How == Killed && failure.Signal == syscall.SIGKILL ||
		failure.How == Exited && failure.Code == signalBase+int(syscall.SIGKILL) // by a shell's word
	switch {
	case killed:
		if n := local.OutOfMemory() - outOfMemory; n > 0 && len(j.config.Elsewhere) == 0 {
			failure.Message = fmt.Sprintf("the kernel has ended %d for want of memory since the job began: "+
				"give this host or its container more (memory.max), or start fewer ranks", n)
		}
	case failure.How == Exited || failure.How == Killed:
		if said := j.ranks[failure.Rank].lack.said.Load(); said != nil {
			failure.Message = *said
		}
	}
}
