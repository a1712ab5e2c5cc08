// Package handshake proves two processes of one job to each other before
// anything else is said on a connection.
//
// It is pure: bytes in, bytes out and a verdict. Sockets, clocks, deadlines and
// random numbers are the caller's, so any transport can use it; [NewNonce] draws those.
//
// # Messages
//
// All integers are little-endian. C is the side that connects, A the side that
// accepts.
//
//	HELLO, C → A, 108 bytes
//	  0  4  magic "STRD"
//	  4  2  version of this protocol
//	  6  2  path: which of the paths between the two ranks this is
//	  8 16  job: the first half of SHA-256 of the job's name
//	 24  4  rank of C
//	 28  4  rank of A
//	 32  4  epoch of this attempt
//	 36  4  epoch of the last connection of this path that C knows of, or 0
//	 40 16  the address of A, as A published it, that C means to reach
//	 56  2  its port
//	 58  2  0
//	 60 16  0, room for later versions
//	 76 32  nonce of C
//
//	CHALLENGE, A → C, 72 bytes
//	  0  4  magic "STRA"
//	  4  2  version
//	  6  2  0
//	  8 32  nonce of A
//	 40 32  A's proof
//
//	PROOF, C → A, 36 bytes and the blob
//	  0  2  length of the blob, at most MaxBlob
//	  2  2  0
//	  4 32  C's proof, over the blob as well
//	 36     blob: what C tells A about itself
//
//	VERDICT, A → C, 36 bytes and the blob
//	  0  1  0 to accept, else a Code
//	  1  1  0
//	  2  2  length of the blob, at most MaxBlob
//	  4 32  A's proof, over code and blob
//	 36     blob: what A tells C about itself, or the reason to refuse, in words
//
// # Proofs
//
// A proof is HMAC-SHA256 under the job's secret over a word that names the
// message, the whole HELLO, the job's full name, the nonce of A and the parts of
// the message that precede and follow the proof. The word keeps one side's proof
// from being reflected as the other's; the two ranks and the target address keep
// it from being passed on to another process; the nonces from being replayed.
//
// # Who learns what
//
// C sends nothing that is secret. A answers a HELLO only if job, version and
// rank are its own; a stranger sees the connection close. A's proof in CHALLENGE
// is of no use to who does not hold the secret. Only who has given PROOF is told
// why it is refused, and its blob is kept in the acceptor's one buffer until
// then. C gives its blob only to who has proved to hold the secret.
package handshake
