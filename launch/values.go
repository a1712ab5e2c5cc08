package launch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/launcher/pmi"
)

// PMI-1 takes words: short, without blanks. So a value is encoded (base64url,
// unpadded) and cut into pieces. The first piece stands under the key itself,
// after the number of pieces and a colon; piece n under key "+n". Bytes of a
// key that PMI-1 or this scheme can not have are written as %XX.

// maxPieces bounds a value (to some 40 MB with PMI-1's usual limits). It also bounds the count
// that a reader believes.
const maxPieces = 1 << 16

// pieceSuffix is the room that a key leaves for the longest "+n".
const pieceSuffix = len("+65536")

// maxKeyText bounds a key in the program's own bytes, so that what a world of
// one accepts is accepted by every launcher (keylen_max is 64).
const maxKeyText = 48

var errBadPieces = errors.New("is not what this library puts there: another program's key?")

func checkKey(key string) error {
	if key == "" || len(key) > maxKeyText {
		return fmt.Errorf("launch: key %.60q has %d bytes; want 1 to %d", key, len(key), maxKeyText)
	}
	return nil
}

// encodeKey writes a key as a PMI-1 word shorter than limit bytes, with room
// for a piece's suffix.
func encodeKey(key string, limit int) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case c <= ' ', c >= 0x7f, c == '%', c == '+', c == '=', c == ';', c == '\'', c == '"', c == '\\':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	if b.Len()+pieceSuffix >= limit {
		return "", fmt.Errorf("launch: key %q takes %d bytes when encoded; this launcher takes less than %d: use a shorter key or plain letters",
			key, b.Len(), limit-pieceSuffix)
	}
	return b.String(), nil
}

// pieceKey names the key of a piece.
func pieceKey(key string, n int) string {
	if n == 0 {
		return key
	}
	return key + "+" + strconv.Itoa(n)
}

// cut encodes a value and cuts it into pieces shorter than limit bytes.
func cut(value string, limit int) ([]string, error) {
	room := limit - 1
	text := base64.RawURLEncoding.EncodeToString([]byte(value))
	// The count in the first piece has as many digits as it needs; space for
	// the longest is always left.
	head := room - len("65536:")
	first := text[:min(head, len(text))]
	rest := text[len(first):]
	count := 1 + (len(rest)+room-1)/room
	if count > maxPieces {
		return nil, fmt.Errorf("launch: a value of %d bytes is too long: it takes %d pieces, at most %d are allowed", len(value), count, maxPieces)
	}
	pieces := append(make([]string, 0, count), strconv.Itoa(count)+":"+first)
	for ; rest != ""; rest = rest[len(pieces[len(pieces)-1]):] {
		pieces = append(pieces, rest[:min(room, len(rest))])
	}
	return pieces, nil
}

// join is cut's inverse; get returns the n-th piece.
func join(get func(n int) (string, error)) (string, error) {
	first, err := get(0)
	if err != nil {
		return "", err
	}
	digits, body, found := strings.Cut(first, ":")
	count, err := strconv.Atoi(digits)
	if !found || err != nil || count < 1 || count > maxPieces {
		return "", errBadPieces
	}
	var text strings.Builder
	text.WriteString(body)
	for n := 1; n < count; n++ {
		piece, err := get(n)
		if err != nil {
			return "", err
		}
		text.WriteString(piece)
	}
	value, err := base64.RawURLEncoding.Strict().DecodeString(text.String())
	if err != nil {
		return "", fmt.Errorf("%w (%w)", errBadPieces, err)
	}
	return string(value), nil
}

// put publishes a value over a PMI-1 client.
func put(ctx context.Context, c *pmi.Client, key, value string) error {
	encoded, err := encodeKey(key, c.Limits().Key)
	if err != nil {
		return err
	}
	pieces, err := cut(value, c.Limits().Value)
	if err != nil {
		return err
	}
	for n, piece := range pieces {
		if err := c.Put(ctx, pieceKey(encoded, n), piece); err != nil {
			return err
		}
	}
	return nil
}

// get reads back what put published.
func get(ctx context.Context, c *pmi.Client, key string) (string, error) {
	encoded, err := encodeKey(key, c.Limits().Key)
	if err != nil {
		return "", err
	}
	value, err := join(func(n int) (string, error) { return c.Get(ctx, pieceKey(encoded, n)) })
	switch {
	case errors.Is(err, pmi.ErrNoKey):
		return "", fmt.Errorf("%w: %q", ErrNoKey, key)
	case errors.Is(err, errBadPieces):
		return "", fmt.Errorf("launch: the value of key %q %w", key, err)
	}
	return value, err
}
