package tcp

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"os"

	"github.com/strandmp/strand/internal/rawio"
)

// thisNetwork identifies the network stack of this process: the running kernel
// and its network namespace. Two containers on one machine differ. Where it can
// not be read it is random, so that everybody else is taken to be elsewhere.
func thisNetwork() networkID {
	namespace, ok := rawio.NetworkNamespace()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if !ok || err != nil || len(bytes.TrimSpace(boot)) == 0 {
		var id networkID
		rand.Read(id[:])
		return id
	}
	b := binary.LittleEndian.AppendUint64([]byte("strand network identity\n"), namespace)
	sum := sha256.Sum256(append(b, bytes.TrimSpace(boot)...))
	return networkID(sum[:16])
}
