package record

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func secret() []byte {
	b := make([]byte, SecretSize)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func pair(t require.TestingT, renewal uint64) (*Writer, *Reader) {
	w, err := NewWriter(secret(), renewal)
	require.NoError(t, err)
	r, err := NewReader(secret(), renewal)
	require.NoError(t, err)
	w.Lend(make([]byte, WriteBuffer))
	r.Lend(make([]byte, ReadBuffer))
	return w, r
}

// write makes one record of p.
func write(t require.TestingT, w *Writer, p []byte) []byte {
	n, err := w.Add(p)
	require.NoError(t, err)
	require.Len(t, p, n)
	require.NoError(t, w.Finish())
	b := bytes.Clone(w.Waiting())
	w.Sent(len(b))
	return b
}

// read feeds the reader, in portions, and returns what it gives out.
func read(t require.TestingT, r *Reader, wire []byte, portion func(most int) int) (plain []byte, err error) {
	for len(wire) > 0 {
		room := r.Room()
		require.NotEmpty(t, room)
		n := copy(room, wire[:min(len(wire), portion(len(room)))])
		r.Took(n)
		wire = wire[n:]
		for {
			b, err := r.Next()
			if err != nil {
				_, again := r.Next()
				require.Equal(t, err, again, "an error is final")
				return plain, err
			}
			if b == nil {
				break
			}
			require.NotEmpty(t, b)
			plain = append(plain, b...)
		}
	}
	return plain, nil
}

func all(n int) int { return n }

// What the format says, as another implementation has it (Python's cryptography): two records
// under the first key, two under the next.
func TestKnownAnswers(t *testing.T) {
	w, r := pair(t, 2)
	for _, v := range []struct{ plain, record string }{
		{"strand", "0600000031ab7d6c9ee3b1a555b39acae42abd2fc3be2fb25a80"},
		{"strand", "060000006d283758bf8322dd8220cf90a34143d2cd8fe36b6866"},
		{"strand", "06000000b230b32fecc1b8d9c96718db85171cee4c3f67fe92fe"},
		{string(make([]byte, 20)), "14000000ac973cb1db3965b84a5170793b4e7be6582b4cec13325683c7255275ffd1f312ad72ff71"},
	} {
		got := write(t, w, []byte(v.plain))
		require.Equal(t, v.record, hex.EncodeToString(got))
		plain, err := read(t, r, got, all)
		require.NoError(t, err)
		require.Equal(t, v.plain, string(plain))
	}
}

// Any stream, given in any pieces, sent and received in any portions, under keys that are
// renewed often, arrives as it was.
func TestAnyCutting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r := pair(t, rapid.SampledFrom([]uint64{1, 2, 7, Renewal}).Draw(t, "renewal"))
		most := rapid.SampledFrom([]int{1, 30, 3000, 1 << 20}).Draw(t, "portion")
		longest := min(100<<10, 500*most)
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, longest)), 1, 12).Draw(t, "pieces")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var plain, wire []byte
		drain := func(least int) {
			require.NoError(t, w.Finish())
			for len(w.Waiting()) > least {
				n := 1 + random.IntN(len(w.Waiting()))
				wire = append(wire, w.Waiting()[:n]...)
				w.Sent(n)
			}
		}
		for i, size := range pieces {
			p := bytes.Repeat([]byte{byte(i)}, size)
			plain = append(plain, p...)
			for len(p) > 0 {
				n, err := w.Add(p)
				require.NoError(t, err)
				if p = p[n:]; len(p) > 0 {
					drain(0)
				}
			}
			if random.IntN(3) == 0 {
				drain(0)
			}
		}
		drain(50)
		last := bytes.Repeat([]byte{'l'}, rapid.SampledFrom([]int{0, 8, longest}).Draw(t, "last"))
		rest, err := w.Last(last)
		require.NoError(t, err)
		wire = append(wire, rest...)
		got, err := read(t, r, wire,
			func(room int) int { return 1 + random.IntN(min(room, most)) })
		require.NoError(t, err)
		want := append(plain, last...)
		require.True(t, bytes.Equal(want, got), "%d bytes arrived, %d were sent", len(got), len(want))
		require.False(t, len(want) > 0 && len(wire) < len(want)+Overhead)
	})
}

// stream is some records, and what each has of the stream.
func stream(t *rapid.T) (w *Writer, r *Reader, records, plains [][]byte) {
	w, r = pair(t, rapid.SampledFrom([]uint64{2, Renewal}).Draw(t, "renewal"))
	for i, n := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 80), rapid.IntRange(1, MaxPlain)), 3, 6).Draw(t, "records") {
		p := bytes.Repeat([]byte{'a' + byte(i)}, n)
		plains, records = append(plains, p), append(records, write(t, w, p))
	}
	return w, r, records, plains
}

// Nothing is given out of a record in which a bit is wrong, nor of any record after it. Those
// before it are given out. A record that claims to be longer than it is fails once that much has come.
func TestAnyFlippedBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r, records, plains := stream(t)
		which := rapid.IntRange(0, len(records)-1).Draw(t, "record")
		bit := rapid.IntRange(0, 8*len(records[which])-1).Draw(t, "bit")
		records[which][bit/8] ^= 1 << (bit % 8)
		wire := append(bytes.Join(records, nil), write(t, w, make([]byte, MaxPlain))...)
		got, err := read(t, r, wire, all)
		require.ErrorIs(t, err, ErrDamaged)
		require.True(t, bytes.Equal(bytes.Join(plains[:which], nil), got))
	})
}

// What is cut off in the middle of a record is not given out.
func TestAnyTruncation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, r, records, plains := stream(t)
		wire := bytes.Join(records, nil)
		end := rapid.IntRange(0, len(wire)).Draw(t, "end")
		got, err := read(t, r, wire[:end], all)
		require.NoError(t, err)
		var want []byte
		at := 0
		for i, b := range records {
			if at += len(b); at <= end {
				want = append(want, plains[i]...)
			}
		}
		require.True(t, bytes.Equal(want, got))
		require.Equal(t, len(want)+overheadOf(records, len(want)) == end, r.Empty())
	})
}

// overheadOf is what the records have beside the first n bytes of the stream.
func overheadOf(records [][]byte, n int) (overhead int) {
	for _, b := range records {
		if n == 0 {
			break
		}
		n -= len(b) - Overhead
		overhead += Overhead
	}
	return overhead
}

// Records that are left out, repeated, moved, or of another direction are refused, and so is all
// after them.
func TestAnyOtherOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, r, records, plains := stream(t)
		i := rapid.IntRange(0, len(records)-2).Draw(t, "record")
		switch rapid.SampledFrom([]string{"left out", "repeated", "moved", "of another direction"}).Draw(t, "what") {
		case "left out":
			records = append(records[:i:i], records[i+1:]...)
		case "repeated":
			records = append(append(records[:i+1:i+1], records[i]), records[i+1:]...)
			i++
		case "moved":
			records[i], records[i+1] = records[i+1], records[i]
		default:
			other, err := NewWriter(bytes.Repeat([]byte{9}, SecretSize), 2)
			require.NoError(t, err)
			other.Lend(make([]byte, WriteBuffer))
			records[i] = write(t, other, plains[i])
		}
		got, err := read(t, r, bytes.Join(records, nil), all)
		require.ErrorIs(t, err, ErrDamaged)
		require.True(t, bytes.Equal(bytes.Join(plains[:i], nil), got))
	})
}

// Who has the present secret can not open what came before the keys were renewed.
func TestRenewalForgets(t *testing.T) {
	w, r := pair(t, 3)
	first := write(t, w, []byte("first"))
	for range 3 {
		write(t, w, []byte("more"))
	}
	require.NotEqual(t, secret(), w.keys.secret)
	stolen, err := NewReader(bytes.Clone(w.keys.secret), 3)
	require.NoError(t, err)
	stolen.Lend(make([]byte, ReadBuffer))
	_, err = read(t, stolen, first, all)
	require.ErrorIs(t, err, ErrDamaged)
	got, err := read(t, r, first, all)
	require.NoError(t, err)
	require.Equal(t, "first", string(got))
}

// No nonce is used twice under one key, and a key for no more records than are allowed.
func TestNonces(t *testing.T) {
	k, err := newKeys(secret(), 5)
	require.NoError(t, err)
	seen := map[string]bool{}
	for range 23 {
		nonce, err := k.next()
		require.NoError(t, err)
		use := string(k.secret) + string(nonce)
		require.False(t, seen[use])
		seen[use] = true
		require.LessOrEqual(t, k.count, uint64(5))
	}
	require.LessOrEqual(t, Renewal, 1<<24)
}

func TestSecretsHaveALength(t *testing.T) {
	for _, n := range []int{0, SecretSize - 1, SecretSize + 1} {
		_, err := NewWriter(make([]byte, n), 1)
		require.Error(t, err)
		_, err = NewReader(make([]byte, n), 1)
		require.Error(t, err)
	}
}

// Bytes that were given out stay as they are when the next record fails.
func TestFailureLeavesWhatWasGivenOut(t *testing.T) {
	w, r := pair(t, Renewal)
	first, second := write(t, w, []byte("true")), write(t, w, []byte("damaged"))
	second[len(second)-1] ^= 1
	r.Took(copy(r.Room(), append(first, second...)))
	b, err := r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorIs(t, err, ErrDamaged)
	require.Equal(t, "true", string(b))
}

func TestNothingIsAllocated(t *testing.T) {
	w, r := pair(t, Renewal)
	small, long := make([]byte, 100), make([]byte, MaxPlain)
	out, in := w.Return(), r.Return()
	got := testing.AllocsPerRun(100, func() {
		w.Lend(out)
		r.Lend(in)
		for _, p := range [][]byte{small, small, long, small} {
			if _, err := w.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		n := copy(r.Room(), w.Waiting())
		w.Sent(n)
		r.Took(n)
		for range 3 { // records
			if b, err := r.Next(); err != nil || b == nil {
				t.Fatal(err)
			}
		}
		w.Return()
		r.Return()
	})
	require.Zero(t, got)
}

// FuzzReader: of whatever arrives nothing is given out but what was sent, in order and from the
// beginning. The bytes say what becomes of an honest stream: which of its bytes are changed, left
// out or put in.
func FuzzReader(f *testing.F) {
	f.Add([]byte{}, uint16(100))
	f.Add([]byte{0, 0, 1}, uint16(1))
	f.Add([]byte{0, 200, 7, 1, 3, 0}, uint16(40))
	f.Add([]byte("\x02\x00\x00\x00"), uint16(9))
	f.Fuzz(func(t *testing.T, script []byte, portion uint16) {
		script = script[:min(len(script), 200)] // more only takes longer
		w, r := pair(t, 2)
		var plain, wire []byte
		for i := range 6 {
			p := bytes.Repeat([]byte{'a' + byte(i)}, 1+i*i*9)
			plain = append(plain, p...)
			wire = append(wire, write(t, w, p)...)
		}
		for ; len(script) >= 3; script = script[3:] {
			at := (int(script[1])<<3 | int(script[0]>>5)) % len(wire)
			switch script[0] % 3 {
			case 0:
				wire[at] = script[2]
			case 1:
				wire = append(wire[:at:at], wire[min(at+int(script[2]), len(wire)-1):]...)
			default:
				wire = append(wire[:at:at], append(bytes.Clone(wire[at/2:min(at/2+int(script[2]), len(wire))]), wire[at:]...)...)
			}
		}
		wire = append(script, wire...)
		got, _ := read(t, r, wire, func(int) int { return int(portion) + 1 })
		if !bytes.HasPrefix(plain, got) {
			t.Fatalf("%q", got)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	for name, size := range map[string]int{"64": 64, "4K": 4 << 10, "16K": MaxPlain} {
		w, r := pair(b, Renewal)
		out, in, p := w.Return(), r.Return(), make([]byte, size)
		b.Run("both ways/"+name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				w.Lend(out)
				r.Lend(in)
				if _, err := w.Add(p); err != nil || w.Finish() != nil {
					b.Fatal(err)
				}
				r.Took(copy(r.Room(), w.Waiting()))
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
