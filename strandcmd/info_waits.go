package strandcmd

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/whowaits"
)

// A waitsAnswer is what a job's ranks wait for.
type waitsAnswer struct {
	live.Job
	Ranks    []whowaits.Rank    `json:"rank_waits"`
	Findings []whowaits.Finding `json:"findings"`
	Awaited  []int              `json:"awaited,omitempty"` // ranks that others wait for, and that may go on
}

// showWaits asks the jobs of this user twice, and shows what their ranks wait for.
func (r *infoRun) showWaits(out io.Writer, name string) error {
	before, err := chosenJobs(name)
	if err != nil && len(before) == 0 {
		return err
	}
	<-time.After(whowaits.Pause)
	after, err := chosenJobs(name)
	if err != nil && len(after) == 0 {
		return err
	}
	answers := []waitsAnswer{}
	for _, a := range after {
		w := waitsAnswer{Job: a.Job, Ranks: live.Waits(a.Ranks), Findings: []whowaits.Finding{}}
		for _, b := range before {
			if b.Name == a.Name {
				then := live.Waits(b.Ranks)
				w.Findings = append(w.Findings, whowaits.Judge(then, w.Ranks)...)
				w.Awaited = whowaits.Awaited(then, w.Ranks)
			}
		}
		answers = append(answers, w)
	}
	if r.json {
		return errors.Join(writeJSON(out, answers), err)
	}
	var b strings.Builder
	if len(answers) == 0 {
		b.WriteString(noJobs())
	}
	for i, a := range answers {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeJob(&b, a.Job, time.Now())
		whowaits.Write(&b, a.Ranks, a.Findings, a.Awaited)
	}
	_, werr := io.WriteString(out, b.String())
	return errors.Join(werr, err)
}
