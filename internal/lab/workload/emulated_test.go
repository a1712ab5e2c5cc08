//go:build linux

package workload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/testnet"
)

// asRank in the environment makes this test program a rank. It says of what.
const asRank = "WORKLOAD_TEST_SPEC"

func TestMain(m *testing.M) {
	if text := os.Getenv(asRank); text != "" && os.Getenv("PMI_RANK") != "" && len(os.Args) == 1 {
		if err := rank(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testnet.Main(m)
}

func rank(text string) error {
	var spec workload.Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	return strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		r, err := spec.Run(ctx, w.Comm())
		if err != nil || w.Rank() != 0 {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	})
}

// What strand compare does for each of its cells.
func TestFarmOverALossyNetwork(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	farm := workload.Farm{Tasks: 100, Size: 30_000, Fanout: 2, Outstanding: 5, Types: 10, Ordering: "relaxed"}
	parameters, err := json.Marshal(farm)
	require.NoError(t, err)
	text, err := json.Marshal(workload.Spec{Name: "farm", Parameters: parameters, Watch: workload.Duration(time.Millisecond)})
	require.NoError(t, err)
	path := emulate.Path{Delay: 500 * time.Microsecond, Loss: emulate.Independent(0.01)}
	n, err := network.New(network.Config{Hosts: 4, Link: emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}, Path: path}, Seed: 1, Backend: network.UserSpace})
	require.NoError(t, err)
	var out, complaints bytes.Buffer
	err = job.Run(context.Background(), job.Config{
		Ranks: 4, Program: "/proc/self/exe", Prefix: func(rank int) []string { return n.Host(rank).Prefix(asRank + "=" + string(text)) },
		Stdout: &out, Stderr: &complaints, Timeout: 2 * time.Minute,
	})
	report, closeErr := n.Close()
	require.NoError(t, closeErr)
	require.NoError(t, err, "%s", complaints.String())
	var outcome workload.Outcome
	require.NoError(t, json.Unmarshal(out.Bytes(), &outcome), "%s", out.String())
	assert.JSONEq(t, string(parameters), string(outcome.Parameters))
	var result workload.FarmResult
	require.NoError(t, json.Unmarshal(outcome.Detail, &result), "%s", out.String())
	assert.Equal(t, 3, result.Workers)
	checkManager(t, outcome)
	assert.NotZero(t, report.Total.Lost)
	assert.Zero(t, report.Wire.Oversize)
	assert.GreaterOrEqual(t, report.Total.DeliveredBytes, uint64(farm.Tasks*farm.Size))
	t.Logf("%.2f s, %+v, %+v", result.Seconds, report.Total, report.Wire)
}

// checkManager looks at what the manager's connections say of themselves: the network
// has lost some of what it sent.
func checkManager(t *testing.T, outcome workload.Outcome) {
	resent := int64(0)
	require.Len(t, outcome.Members, 4)
	require.Len(t, outcome.Members[0].Connections, 3)
	for _, c := range outcome.Members[0].Connections {
		assert.NotZero(t, c.BytesSent)
		assert.NotZero(t, c.BytesReceived)
		assert.NotEmpty(t, c.Algorithm)
		assert.Positive(t, c.Window.Least)
		assert.LessOrEqual(t, c.Window.Least, c.Window.Median)
		assert.LessOrEqual(t, c.Window.Median, c.Window.Most)
		assert.GreaterOrEqual(t, c.RoundTrip.Most, 1e-3, "twice the delay")
		resent += c.Resent
	}
	assert.Positive(t, resent)
	require.NotEmpty(t, outcome.Course)
	last := outcome.Course[len(outcome.Course)-1]
	assert.Equal(t, resent, last.Resent)
	assert.Positive(t, last.Windows)
	assert.LessOrEqual(t, len(outcome.Course), 201)
}
