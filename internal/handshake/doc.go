// Package handshake has two processes of one job prove to each other which ranks they are, before
// anything else is said on a connection, and agree on keys that nobody else has.
//
// It is pure: bytes in, bytes out and a verdict. Sockets, clocks, deadlines and
// random numbers are the caller's, so any transport can use it; [NewNonce] draws those.
//
// # Keys
//
// Each process has a key pair of X25519, made when it starts ([NewKeyPair]), and publishes its
// public key by the launcher. Two processes share a pair key ([Identity.Pair]): it is derived
// from the agreement of their keys (RFC 7748) and the job's secret, and bound to the job's name,
// both ranks and both public keys. It is computed once for each peer. A reader of the launcher's
// channel has the secret and the public keys, but not the pair key.
//
// A connection has a master key, derived (HKDF, RFC 5869) from the pair key and all that was
// said up to A's nonce. Each proof has a key of its own, derived from that one. A proof
// is HMAC-SHA256 over the transcript: a hash over all that was said, including the message at
// hand without its proof. So one side's proof can not be sent back as the other's. The ranks and
// the target address keep a proof from being passed on to another process. The nonces keep it from
// being replayed. Nobody can lower the version, which is in HELLO and CHALLENGE. When the
// handshake is done a [Session] derives keys for other uses from the master key and the whole
// transcript.
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
//	 60 16  mark: HMAC-SHA256 over the rest of HELLO, its first half, under a key derived from
//	        the job's secret
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
// # Who learns what, and what it costs
//
// C sends nothing that is secret. A answers a HELLO only if job and rank are its own and the mark
// shows that its sender holds the job's secret. Anybody else sees the connection close, and has
// cost one HMAC. Then A needs the pair key. For that it may have to ask the launcher for C's public
// key, and to compute: once for each rank of the job, whoever asks and however often. CHALLENGE
// proves A to C before C gives its blob. A tells why it refuses only after a good PROOF. Until then
// it keeps C's blob in the one buffer of the handshake.
//
// A HELLO of this job in another version is answered by a CHALLENGE that has our version and
// zeros. So the other process can say which versions do not go together. This CHALLENGE proves
// nothing, and there is no version to fall back to.
package handshake
