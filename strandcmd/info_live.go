package strandcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
)

// showLive shows the jobs of this user, or those whose names start as given.
func (r *infoRun) showLive(out io.Writer, name string) error {
	chosen, err := chosenJobs(name)
	if err != nil && len(chosen) == 0 {
		return err
	}
	if r.json {
		return errors.Join(writeJSON(out, chosen), err)
	}
	var b strings.Builder
	if len(chosen) == 0 {
		b.WriteString(noJobs())
	}
	for i, a := range chosen {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeLive(&b, a, time.Now())
	}
	if _, werr := io.WriteString(out, b.String()); werr != nil {
		return werr
	}
	return err
}

// noJobs says where a job was looked for: a shell may have another environment than the job.
func noJobs() string {
	return fmt.Sprintf("No job of this user is running on this host under strand run: none is known in %s, as XDG_RUNTIME_DIR and TMPDIR say here.\n",
		strings.Join(live.Dirs(), ", nor in "))
}

// chosenJobs asks the jobs of this user, and returns those whose names start as given.
func chosenJobs(name string) ([]live.Answer, error) {
	answers, err := live.AllJobs()
	chosen := []live.Answer{}
	for _, a := range answers {
		if strings.HasPrefix(a.Name, name) {
			chosen = append(chosen, a)
		}
	}
	if name != "" && len(chosen) == 0 && (err == nil || len(answers) > 0) {
		return nil, errors.Join(fmt.Errorf("no job %s of this user is running on this host under strand run; strand info --live lists those that are", name), err)
	}
	return chosen, err
}

// writeJob is the line about a job.
func writeJob(b *strings.Builder, j live.Job, now time.Time) {
	fmt.Fprintf(b, "Job %s: %d ranks of %s on %s for %v, launcher pid %d\n",
		j.Name, j.Size, j.Program, j.Host, since(j.Started, now), j.PID)
}

// since is how long ago something was that another process tells of, maybe of another host: by its clock it may be yet to come.
func since(then, now time.Time) time.Duration { return max(now.Sub(then), 0).Round(time.Second) }

// writeLive shows one job.
func writeLive(b *strings.Builder, a live.Answer, now time.Time) {
	writeJob(b, a.Job, now)
	rows := [][]string{{"RANK", "PID", "PEER", "HOST", "MODULE", "STATE", "MESSAGES OUT", "IN", "BYTES OUT", "IN", "REPLAYED", "CONNECTION"}}
	for _, rank := range a.Ranks {
		rows = append(rows, rankRows(rank, now)...)
	}
	for _, line := range align(rows) {
		b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
}

// rankRows returns a row for each connection of a rank.
func rankRows(rank live.Rank, now time.Time) [][]string {
	pid := fmt.Sprint(rank.PID)
	if rank.PID == 0 { // it is not started yet
		pid = "–"
	}
	if rank.Host != "" {
		pid += "@" + rank.Host
	}
	head := []string{fmt.Sprint(rank.Rank), pid}
	var report pml.Report
	if rank.Silent != "" {
		return [][]string{append(head, rank.Silent)}
	}
	if err := json.Unmarshal(rank.Report, &report); err != nil {
		return [][]string{append(head, fmt.Sprintf("its report is not understood: %v", err))}
	}
	var rows [][]string
	for _, r := range report.Rails {
		desc := r.Desc
		if r.Cause != "" {
			desc += "; " + r.Cause
		}
		if paths := describePaths(r.Paths, now); paths != "" {
			desc += "; " + paths
		}
		rows = append(rows, append(append([]string(nil), head...),
			fmt.Sprint(r.Peer), r.Host, r.Module, r.State,
			fmt.Sprint(r.Traffic.Sent), fmt.Sprint(r.Traffic.Received),
			param.FormatSize(int64(r.Traffic.BytesSent)), param.FormatSize(int64(r.Traffic.BytesReceived)),
			fmt.Sprint(report.Stats.Replayed), desc))
	}
	if len(rows) == 0 {
		rows = [][]string{append(head, "has no connection yet")}
	}
	return rows
}

// describePaths says which paths of a connection are down, if it has several paths.
func describePaths(paths []btl.PathState, now time.Time) string {
	if len(paths) < 2 {
		return ""
	}
	var down []string
	for _, p := range paths {
		if !p.Up {
			down = append(down, fmt.Sprintf("%s for %v", p.Desc, since(p.Since, now)))
		}
	}
	if len(down) == 0 {
		return fmt.Sprintf("%d paths, all up", len(paths))
	}
	return fmt.Sprintf("%d paths, down: %s", len(paths), strings.Join(down, ", "))
}
