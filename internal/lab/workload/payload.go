package workload

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A payload is the contents of all messages of a run: each is its number and a
// window of one random text, which is cheap to check at the speed of memory.
type payload struct {
	text []byte
	size int
}

// What messages are made of.
const (
	numberBytes = 8    // in front of the text
	windows     = 4096 // how many different texts there are
)

// newPayload makes the contents of messages of a size.
func newPayload(size int) *payload {
	p := &payload{text: make([]byte, size+windows), size: size}
	_, _ = rand.NewChaCha8([32]byte{}).Read(p.text) // never fails
	return p
}

// window is the text of a message behind its number.
func (p *payload) window(number uint64) []byte {
	start := number * 61 % windows
	return p.text[start:][:p.size-numberBytes]
}

// check returns the number of a message that was received.
func (p *payload) check(message []byte) (uint64, error) {
	if len(message) != p.size {
		return 0, fmt.Errorf("a message of %d bytes arrived, %d were sent", len(message), p.size)
	}
	number := binary.LittleEndian.Uint64(message)
	text := p.window(number)
	if !bytes.Equal(message[numberBytes:], text) {
		i := 0
		for message[numberBytes+i] == text[i] {
			i++
		}
		return 0, fmt.Errorf("message %d is damaged at byte %d of %d", number, numberBytes+i, p.size)
	}
	return number, nil
}
