package strandcmd

import (
	"context"
	"io"

	"github.com/strandmp/strand/internal/lab/accuracy"
	"github.com/strandmp/strand/internal/lab/network"
)

func checkLinks(ctx context.Context, out io.Writer, bar *progress, backend string, asJSON bool) error {
	plan := accuracy.Standard()
	plan.Backend = network.Backend(backend)
	total := len(plan.Delays) + len(plan.Rates) + len(plan.Losses)
	results := make([]accuracy.Result, 0, total)
	err := plan.Run(ctx, func(r accuracy.Result) {
		results = append(results, r)
		bar.update(len(results), total)
	})
	bar.finish()
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(out, results)
	}
	if err := accuracy.WriteHead(out); err != nil {
		return err
	}
	for _, r := range results {
		if err := r.WriteRow(out); err != nil {
			return err
		}
	}
	return nil
}

func contestLinks(ctx context.Context, out io.Writer, bar *progress, asJSON bool) error {
	contest := accuracy.StandardContest()
	var bouts []accuracy.Bout
	err := contest.Run(ctx, func(b accuracy.Bout) {
		bouts = append(bouts, b)
		bar.update(len(bouts), len(contest.Losses))
	})
	bar.finish()
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(out, bouts)
	}
	if err := contest.WriteHead(out); err != nil {
		return err
	}
	for _, b := range bouts {
		if err := b.WriteRow(out); err != nil {
			return err
		}
	}
	return nil
}
