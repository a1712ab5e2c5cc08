// Package record encrypts a stream of bytes: it cuts the stream into records, each of which is
// encrypted and carries a proof that it is the next one of this stream and was not changed.
//
// It is pure: bytes in, bytes out. The sockets are the caller's, and so are the buffers in which
// records are made and opened. In the steady state nothing is allocated.
//
// # A record
//
// Integers are little-endian.
//
//	0    2  n, how many bytes of the stream it has, 1 to MaxPlain
//	2    2  0
//	4    n  these bytes, encrypted
//	4+n 16  the tag: it proves these bytes, the four before them, and the record's number
//
// The cipher is AES-128-GCM (NIST SP 800-38D). A record's number is not sent: both sides count. So
// if a record was changed, repeated, left out or moved, opening fails there and for all that
// follow. The nonce is the number, exclusive or'ed into the last eight bytes of a vector that
// nobody else knows (RFC 8446, section 5.3).
//
// # Keys
//
// Each direction has a secret of 32 bytes. By HKDF-Expand (RFC 5869, SHA-256) it gives the key
// ("strand record key", 16 bytes), the vector ("strand record vector", 12 bytes) and the next
// secret ("strand record next", 32 bytes). After [Renewal] records both sides take the next secret,
// forget the old one and count from 0 again. That is well below the 2^24.5 records of 16 KB that
// RFC 8446, section 5.5, allows under one key of AES-GCM.
//
// # What is given out
//
// A [Reader] gives out a record's bytes only once the whole record is verified. Of a record that
// fails it gives out nothing. It decrypts in the read buffer. The cipher may write what it decrypts
// before it has verified it, so a record must not be opened into memory that holds anything else.
//
// If the stream is cut off between two records, that is not noticed here: the stream itself has to
// say where it ends.
package record
