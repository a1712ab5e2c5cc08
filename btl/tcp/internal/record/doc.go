// Package record encrypts a stream of bytes: it cuts the stream into records, each of which is
// encrypted and carries a proof that it is the next one of this stream and was not changed.
//
// It is pure: bytes in, bytes out. Sockets are the caller's. So are the buffers that records are
// made and opened in; in the steady state nothing is allocated.
//
// # A record
//
// Integers are little-endian.
//
//	0    2  n, how many bytes of the stream it has, 1 to MaxPlain
//	2    2  0
//	4    n  these bytes, encrypted
//	4+n 16  the tag, which proves them, the four bytes before them, and the record's number
//
// The cipher is AES-128-GCM (NIST SP 800-38D). A record's number is not sent: both sides count. So
// a record that was changed, repeated, left out or moved fails, and so do all after it. The nonce
// is the number, exclusive or'ed into the last eight bytes of a vector that nobody else knows (RFC
// 8446, section 5.3).
//
// # Keys
//
// Each direction has a secret of 32 bytes. By HKDF-Expand (RFC 5869, SHA-256) it gives the key
// ("strand record key", 16 bytes), the vector ("strand record vector", 12 bytes) and the next
// secret ("strand record next", 32 bytes). After [Renewal] records both sides take the next secret,
// forget the old one and count from 0 again. RFC 8446, section 5.5, allows 2^24.5 records of 16 KB
// under one key of AES-GCM; the bound of nonces that are not random is 2^32.
//
// # What is given out
//
// A [Reader] gives out a record's bytes once all of it has been verified, and none of one that
// fails. It decrypts in its own buffer: the cipher writes what it decrypts before it knows
// whether that is true, so a record must not be opened into memory in which anything else is.
//
// Who cuts the stream off between two records is not noticed here: the stream has to say itself
// where it ends.
package record
