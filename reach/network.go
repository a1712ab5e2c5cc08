package reach

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
)

// ThisNetwork identifies the network stack that the calling thread works with:
// the running kernel and its network namespace. It is zero, which nobody is the
// same as, where one of the two can not be read.
func ThisNetwork() Network {
	namespace, ok := networkNamespace()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	boot = bytes.TrimSpace(boot)
	if !ok || err != nil || len(boot) == 0 {
		return Network{}
	}
	b := binary.LittleEndian.AppendUint64([]byte("strand network identity\n"), namespace)
	sum := sha256.Sum256(append(b, boot...))
	return Network(sum[:16])
}
