package record

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

const (
	// SecretSize is the length of a direction's secret in bytes.
	SecretSize = 32
	// Renewal is the number of records after which a direction gets another key.
	Renewal = 1 << 20

	keySize   = 16
	nonceSize = 12
)

// keys are those of one direction.
type keys struct {
	secret  []byte
	aead    cipher.AEAD
	vector  [nonceSize]byte
	nonce   [nonceSize]byte // of the record at hand
	count   uint64          // of records under this key
	renewal uint64
}

func newKeys(secret []byte, renewal uint64) (*keys, error) {
	if len(secret) != SecretSize {
		return nil, fmt.Errorf("record: a secret of %d bytes instead of %d", len(secret), SecretSize)
	}
	k := &keys{secret: secret, renewal: renewal}
	return k, k.derive()
}

// derive makes key and vector of the secret.
func (k *keys) derive() error {
	key, err := k.expand("strand record key", keySize)
	if err != nil {
		return err
	}
	vector, err := k.expand("strand record vector", nonceSize)
	if err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	k.vector, k.count = [nonceSize]byte(vector), 0
	k.aead, err = cipher.NewGCM(block)
	return err
}

func (k *keys) expand(label string, n int) ([]byte, error) {
	return hkdf.Expand(sha256.New, k.secret, label, n)
}

// next returns the nonce of the next record and counts that record. The nonce is valid until the
// next call: it is a field so that returning it allocates nothing.
func (k *keys) next() ([]byte, error) {
	if k.count == k.renewal {
		if err := k.renew(); err != nil {
			return nil, err
		}
	}
	k.nonce = k.vector
	last := k.nonce[nonceSize-8:]
	binary.BigEndian.PutUint64(last, binary.BigEndian.Uint64(last)^k.count)
	k.count++
	return k.nonce[:], nil
}

// renew goes on with the next secret. Whoever learns a secret can not find the ones before it.
func (k *keys) renew() error {
	next, err := k.expand("strand record next", SecretSize)
	if err != nil {
		return err
	}
	clear(k.secret)
	k.secret = next
	return k.derive()
}
