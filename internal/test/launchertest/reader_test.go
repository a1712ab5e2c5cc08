package launchertest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/test/need"
)

// A reader has what mpiexec -verbose prints of the launcher's channel, and nothing else. It speaks
// both versions of the handshake by itself, without looking at what is proved to it.
type reader struct {
	job, secret string
	records     map[int]string // what each rank has published
	ports       map[int]int    // where each listens
}

var (
	saidName   = regexp.MustCompile(`my_kvsname kvsname=(\S+)`)
	saidSecret = regexp.MustCompile(`strand-secret=1:([\w-]+)`)
	saidRecord = regexp.MustCompile(`strand-addr-(\d+)=1:([\w-]+)`)
	saidPort   = regexp.MustCompile(`rank (\d+): listening on port (\d+)`)
)

// read takes one line of the recording.
func (r *reader) read(line string) {
	text := func(s string) string {
		b, _ := base64.RawURLEncoding.DecodeString(s)
		return string(b)
	}
	if m := saidName.FindStringSubmatch(line); m != nil {
		r.job = m[1]
	}
	if m := saidSecret.FindStringSubmatch(line); m != nil {
		r.secret = text(m[1])
	}
	for _, m := range saidRecord.FindAllStringSubmatch(line, -1) {
		rank, _ := strconv.Atoi(m[1])
		r.records[rank] = text(m[2])
	}
	if m := saidPort.FindStringSubmatch(line); m != nil {
		rank, _ := strconv.Atoi(m[1])
		r.ports[rank], _ = strconv.Atoi(m[2])
	}
}

// hello says that it is one rank, which has lost all its connections to the other.
func (r *reader) hello(version uint16, from, to int) []byte {
	le, job := binary.LittleEndian, sha256.Sum256([]byte(r.job))
	b := le.AppendUint16([]byte("STRD"), version)
	b = append(le.AppendUint16(b, 0), job[:16]...)
	for _, n := range []int{from, to, 1000, 1000} { // epochs: later than any
		b = le.AppendUint32(b, uint32(n))
	}
	b = append(b, net.IPv4(127, 0, 0, 1).To16()...)
	b = le.AppendUint16(b, uint16(r.ports[to]))
	b = append(b, make([]byte, 18)...)
	nonce := make([]byte, 32)
	rand.Read(nonce) // it never fails (crypto/rand)
	return append(b, nonce...)
}

// prover makes the proof of a PROOF message, of what was said before and of that message's head
// and blob.
type prover func(hello, challenge, head, blob []byte) []byte

// plays reports whether it is answered as a rank, and let in.
func (r *reader) plays(t *testing.T, hello []byte, to int, prove prover) (answered, letIn bool) {
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.ports[to])))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	require.NoError(t, c.SetDeadline(time.Now().Add(watchdog)))
	_, _ = c.Write(hello) // what comes of it is read
	challenge := make([]byte, 72)
	if _, err := io.ReadFull(c, challenge); err != nil {
		return false, false
	}
	blob := append([]byte{0, 0, 16, 0, 0, 0, 0}, r.records[to]...) // a greeting without a name, and a hello
	head := binary.LittleEndian.AppendUint16(nil, uint16(len(blob)))
	head = append(head, 0, 0)
	_, _ = c.Write(append(append(bytes.Clone(head), prove(hello, challenge, head, blob)...), blob...))
	_ = c.(*net.TCPConn).CloseWrite() // who has been told of another version is to end the connection
	verdict := make([]byte, 36)
	_, err = io.ReadFull(c, verdict)
	return true, err == nil && verdict[0] == 0
}

// prove1 is the proof of version 1, for which the secret is enough.
func (r *reader) prove1(hello, challenge, head, blob []byte) []byte {
	mac := hmac.New(sha256.New, []byte(r.secret))
	mac.Write(fields([]byte("strand connector's proof"), hello, []byte(r.job), challenge[8:40], head, blob))
	return mac.Sum(nil)
}

func fields(all ...[]byte) (b []byte) {
	for _, f := range all {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(f))), f...)
	}
	return b
}

func hash(all ...[]byte) []byte { s := sha256.Sum256(bytes.Join(all, nil)); return s[:] }

func mac(key, b []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return m.Sum(nil)
}

// mark2 shows the secret, as HELLO of version 2 does.
func (r *reader) mark2(hello []byte) []byte {
	key, _ := hkdf.Extract(sha256.New, []byte(r.secret), hash(fields([]byte("strand 2 hello"), []byte(r.job))))
	copy(hello[60:76], mac(key, append(bytes.Clone(hello[:60]), hello[76:]...)))
	return hello
}

// prove2 is the proof of version 2, with a private key of the reader's own in the place of the
// rank's, which is not in the recording.
func (r *reader) prove2(t *testing.T, own *ecdh.PrivateKey, from, to int) prover {
	public := func(rank int) []byte { return []byte(r.records[rank][1:33]) }
	theirs, err := ecdh.X25519().NewPublicKey(public(to))
	require.NoError(t, err)
	shared, err := own.ECDH(theirs)
	require.NoError(t, err)
	le := binary.LittleEndian
	low, high := min(from, to), max(from, to)
	info := hash(fields([]byte("strand 2 pair"), []byte(r.job), le.AppendUint32(nil, uint32(low)), public(low), le.AppendUint32(nil, uint32(high)), public(high)))
	pair, err := hkdf.Key(sha256.New, shared, []byte(r.secret), string(info), 32)
	require.NoError(t, err)
	return func(hello, challenge, head, blob []byte) []byte {
		said := hash(fields([]byte("strand 2 handshake"), []byte(r.job), []byte("tcp"), nil))
		said = hash(hash(said, hello), challenge[:40])
		master, _ := hkdf.Extract(sha256.New, pair, said)
		key, _ := hkdf.Expand(sha256.New, master, "strand 2 connector's proof", 32)
		return mac(key, hash(hash(said, challenge[40:]), head, blob))
	}
}

// With the one thing that it has not, the rank's private key, the reader would be let in.
func TestReaderKnowsTheHandshake(t *testing.T) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(t, err)
	five := handshake.NewKeyPair()
	r := &reader{job: "job", secret: "secret", ports: map[int]int{5: 7}, records: map[int]string{
		3: "\x03" + string(key.PublicKey().Bytes()), 5: "\x03" + string(five.Public()),
	}}
	id := handshake.NewIdentity(r.job, []byte(r.secret), 5)
	pair, err := id.Pair(five, 3, key.PublicKey().Bytes())
	require.NoError(t, err)
	a := id.Over("tcp").NewAcceptor(handshake.NewNonce(), nil, func(handshake.Request) error { return nil })
	hello := r.mark2(r.hello(2, 3, 5))
	_, _, err = a.Feed(hello)
	require.NoError(t, err)
	head := []byte{0, 0, 0, 0}
	_, proved, err := a.Feed(append(head, r.prove2(t, key, 3, 5)(hello, a.Answer(pair), head, nil)...))
	require.NoError(t, err)
	require.True(t, proved)
}

// Who has all that goes through Hydra's proxies, on two hosts, can not play any rank to any other.
func TestReaderOfTheChannel(t *testing.T) {
	hydra := need.Program(t, "mpiexec.hydra", "mpich")
	const ranks = 4
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, hydra, "-verbose", "-launcher", "fork", "-hosts", "a:2,b:2", "-n", strconv.Itoa(ranks), self(t))
	cmd.Env = append(os.Environ(), roleEnv+"=besieged", "GORACE=atexit_sleep_ms=0",
		"STRAND_BTL=tcp,self", "STRAND_VERBOSE=1", "STRAND_BTL_TCP_IF_INCLUDE=127.0.0.1")
	said, out := io.Pipe()
	cmd.Stdout, cmd.Stderr = out, out
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = out.Close()
	}()
	r := &reader{records: map[int]string{}, ports: map[int]int{}}
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && !bytes.HasSuffix(lines.Bytes(), []byte(besieged)) {
		r.read(lines.Text())
	}
	var rest sync.WaitGroup
	rest.Go(func() { _, _ = io.Copy(io.Discard, said) })
	require.Len(t, r.ports, ranks, "%v", lines.Err())
	require.Len(t, r.records, ranks)
	require.Len(t, r.secret, 32)
	for from := range ranks {
		for to := range ranks {
			if from == to {
				continue
			}
			_, letIn := r.plays(t, r.hello(1, from, to), to, r.prove1)
			require.False(t, letIn, "it is let in as rank %d by rank %d, by version 1", from, to)
			own, err := ecdh.X25519().GenerateKey(rand.Reader)
			require.NoError(t, err)
			answered, letIn := r.plays(t, r.mark2(r.hello(2, from, to)), to, r.prove2(t, own, from, to))
			require.True(t, answered, "it does hold the secret")
			require.False(t, letIn, "it is let in as rank %d by rank %d", from, to)
		}
	}
	require.NoError(t, stdin.Close())
	require.NoError(t, <-ended, "the job goes on as if nothing were")
	rest.Wait()
}
