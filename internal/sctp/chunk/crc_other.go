//go:build !amd64

package chunk

import "hash/crc32"

// crc is the CRC32c.
func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
