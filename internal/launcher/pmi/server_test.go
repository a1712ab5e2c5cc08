package pmi

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewServerRefuses(t *testing.T) {
	for _, size := range []int{-1, 0, MaxRanks + 1} {
		_, err := NewServer("job", size, &recorder{})
		assert.ErrorIs(t, err, ErrSize)
	}
	for _, name := range []string{"", "a b", strings.Repeat("x", nameMax)} {
		_, err := NewServer(name, 1, &recorder{})
		assert.ErrorContains(t, err, "job name")
	}
}

// converse sends lines to a server of one rank and returns all its answers and
// the result of Serve.
func converse(t *testing.T, text string) (answers string, events []string, served error) {
	t.Helper()
	var r recorder
	s, err := NewServer("job", 1, &r)
	require.NoError(t, err)
	near, far := pair(t)
	result := make(chan error, 1)
	go func() { result <- s.Serve(0, near) }()
	go func() {
		_, _ = io.WriteString(far, text) // fails when the server has had enough
		_ = far.(*net.UnixConn).CloseWrite()
	}()
	all, _ := io.ReadAll(far) // ends with a reset if the server left text unread
	served = <-result
	return string(all), r.all(), served
}

func TestConversation(t *testing.T) {
	answers, events, err := converse(t, strings.Join([]string{
		"cmd=init pmi_version=1 pmi_subversion=1",
		"cmd=get_maxes",
		"cmd=get_appnum",
		"cmd=get_universe_size",
		"cmd=get_my_kvsname",
		"cmd=put kvsname=job key=k value=v",
		"cmd=put kvsname=other key=k value=v",
		"cmd=put kvsname=job key=k",
		"cmd=put kvsname=job key= value=v",
		"cmd=barrier_in",
		"cmd=get kvsname=job key=k",
		"cmd=get kvsname=other key=k",
		"cmd=get kvsname=job key=absent",
		"cmd=get",
		"cmd=finalize",
		"cmd=barrier_in",
	}, "\n")+"\n")
	require.NoError(t, err)
	assert.Equal(t, []string{
		"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0 strand_rank=0 strand_size=1",
		"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
		"cmd=appnum appnum=0",
		"cmd=universe_size size=1",
		"cmd=my_kvsname kvsname=job",
		"cmd=put_result rc=0 msg=success",
		"cmd=put_result rc=-1 msg=unknown_kvsname",
		"cmd=put_result rc=-1 msg=key_or_value_missing",
		"cmd=put_result rc=-1 msg=key_empty_or_too_long",
		"cmd=barrier_out",
		"cmd=get_result rc=0 msg=success value=v",
		"cmd=get_result rc=-1 msg=key_not_found",
		"cmd=get_result rc=-1 msg=key_not_found",
		"cmd=get_result rc=-1 msg=key_not_found",
		"cmd=finalize_ack",
	}, strings.Split(strings.TrimSuffix(answers, "\n"), "\n"))
	assert.Equal(t, []string{"init 0", "finalise 0"}, events)
}

// A client that asks for what this launcher can not do is told so, and goes on.
func TestWhatIsNotOffered(t *testing.T) {
	spawn := func(total, soFar string) string {
		return "mcmd=spawn\nnprocs=2\nexecname=./a program\ntotspawns=" + total + "\nspawnssofar=" + soFar + "\narg1=two words\nendcmd\n"
	}
	answers, events, err := converse(t, "cmd=init pmi_version=1 pmi_subversion=1\n"+
		"cmd=publish_name service=a name port=p\ncmd=lookup_name service=a name\ncmd=unpublish_name service=a name\n"+
		"cmd=getbyidx kvsname=job idx=0\ncmd=create_kvs\ncmd=destroy_kvs kvsname=x\n"+
		spawn("1", "1")+spawn("2", "1")+spawn("2", "2")+"cmd=finalize\n")
	require.NoError(t, err)
	refusal := " rc=-1 msg=this_launcher_does_not_offer_it"
	assert.Equal(t, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0 strand_rank=0 strand_size=1\n"+
		"cmd=publish_result"+refusal+"\ncmd=lookup_result"+refusal+"\ncmd=unpublish_result"+refusal+"\n"+
		"cmd=getbyidx_results"+refusal+"\ncmd=newkvs"+refusal+"\ncmd=kvs_destroyed"+refusal+"\n"+
		"cmd=spawn_result"+refusal+"\ncmd=spawn_result"+refusal+"\ncmd=finalize_ack\n", answers)
	assert.Equal(t, []string{"init 0", "finalise 0"}, events)
}

func TestGarbageFromAClient(t *testing.T) {
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\n":                "no PMI-1 line",
		"\x16\x03\x01\n":                    "control character",
		strings.Repeat("x", 100*MaxLine):    "longer than",
		"cmd=spawned nprocs=1000000\n":      `cmd="spawned" is no command`,
		"mcmd=publish\n":                    `mcmd="publish" is no command`,
		"cmd=init pmi_version=1\ncmd=a b\n": "not of the form",
		"cmd=init pmi_version=2\n" + strings.Repeat("cmd=init pmi_version=1\n", 2): "a rank is one program",
		"cmd=finalized\n":                        "no command",
		"cmd=barrier_in extra=" + "y" + "\nxx\n": "no PMI-1 line",
	} {
		_, _, err := converse(t, text)
		assert.ErrorContains(t, err, want, "%.40q", text)
	}
}

func TestHalfALineIsAnEnd(t *testing.T) {
	answers, events, err := converse(t, "cmd=init pmi_version=2 pmi_subversion=0\ncmd=final")
	assert.NoError(t, err)
	assert.Equal(t, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1 strand_rank=0 strand_size=1\n", answers)
	assert.Empty(t, events, "a refused rank has not joined")
}

func TestAbortForms(t *testing.T) {
	for text, want := range map[string]string{
		"cmd=abort exitcode=7\n":                            "abort 0 7 ",
		"cmd=abort exitcode=x\n":                            "abort 0 1 ",
		"cmd=abort\n":                                       "abort 0 1 ",
		"cmd=abort exitcode=-3 strand_message=aGk\n":        "abort 0 -3 hi",
		"cmd=abort exitcode=3 strand_message=!not-base64\n": "abort 0 3 ",
	} {
		_, events, err := converse(t, text)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, events)
	}
}

func TestTwiceInTheBarrier(t *testing.T) {
	s, err := NewServer("job", 2, &recorder{})
	require.NoError(t, err)
	near, far := pair(t)
	go func() { _, _ = io.WriteString(far, "cmd=barrier_in\ncmd=barrier_in\n") }()
	assert.ErrorContains(t, s.Serve(0, near), "in the barrier already")
}

func TestOneConversationARank(t *testing.T) {
	j := newJob(t, 1).init(t)
	near, _ := pair(t)
	assert.ErrorContains(t, j.Serve(0, near), "connected already")
	near, _ = pair(t)
	assert.ErrorContains(t, j.Serve(1, near), "rank 1 in a job of 1")
	j.Close()
	assert.NoError(t, j.result(t, 0))
	near, _ = pair(t)
	assert.ErrorIs(t, j.Serve(0, near), net.ErrClosed)
}

func TestKeysAreBounded(t *testing.T) {
	s, err := NewServer("job", 1, &recorder{})
	require.NoError(t, err)
	for i := len(s.values); i < maxEntries; i++ {
		s.values[string([]byte{byte(i >> 16), byte(i >> 8), byte(i)})] = ""
	}
	assert.Equal(t, "too_many_keys", s.put("one-more", "v"))
	s.values["known"] = "v"
	assert.Empty(t, s.put("known", "w"), "a known key may be put again")
}

func FuzzServer(f *testing.F) {
	f.Add("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=finalize\n")
	f.Add("cmd=put kvsname=job key=k value=v\ncmd=barrier_in\ncmd=get kvsname=job key=PMI_dead_processes\n")
	f.Add("cmd=abort exitcode=7 strand_message=aGk\n")
	f.Fuzz(func(t *testing.T, text string) {
		answers, _, _ := converse(t, text)
		lines := bufio.NewScanner(strings.NewReader(answers))
		for lines.Scan() {
			_, err := Parse(lines.Text())
			require.NoError(t, err, "an answer that no client could read")
		}
	})
}

func FuzzClient(f *testing.F) {
	f.Add("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\ncmd=maxes keylen_max=64 vallen_max=1024\ncmd=my_kvsname kvsname=k\ncmd=get_result rc=0 value=v\n")
	f.Fuzz(func(t *testing.T, text string) {
		near, far := pair(t)
		c := NewClient(far)
		go func() {
			_, _ = io.WriteString(near, text)
			_ = near.(*net.UnixConn).CloseWrite()
		}()
		ctx := t.Context()
		if c.Init(ctx) == nil {
			_, _ = c.Get(ctx, "k")
			_ = c.Barrier(ctx)
		}
		require.NoError(t, c.Drop())
	})
}

// A stalled connection is that of a launcher that has no processor for a while: its time to write is over before
// it has tried.
type stalled struct {
	net.Conn
	stalls int
	got    []byte
}

func (s *stalled) SetWriteDeadline(time.Time) error { return nil }

func (s *stalled) Write(b []byte) (int, error) {
	if s.stalls > 0 {
		s.stalls--
		s.got = append(s.got, b[0])
		return 1, os.ErrDeadlineExceeded
	}
	s.got = append(s.got, b...)
	return len(b), nil
}

func TestLauncherWithoutAProcessor(t *testing.T) {
	conn := &stalled{stalls: 2}
	require.NoError(t, (&session{conn: conn}).reply("barrier_out"))
	assert.Equal(t, "cmd=barrier_out\n", string(conn.got))
	conn.stalls = 100
	assert.ErrorIs(t, (&session{conn: conn}).reply("barrier_out"), os.ErrDeadlineExceeded, "a client that does not read")
}
