// Package framing puts frames into a stream of bytes and finds them there again. It is for
// every transport whose connections are such streams: TCP, Unix-domain sockets, the streams
// of QUIC.
//
// # Format
//
// A frame is a prefix of [PrefixSize] bytes, the header and the payload. Behind the header and behind the payload there may be
// up to [MaxFill] bytes each that are filled in: they are 0, and whoever receives them does not look at them. Integers are little-endian.
//
//	0  4  length of the payload, at most what the sender has announced
//	4  1  length of the header, 1 to btl.MaxHeader; 0 in a goodbye
//	5  1  kind: 1 data, 2 goodbye
//	6  1  how many bytes are filled in between header and payload
//	7  1  how many behind the payload
//
// A goodbye has nothing of all that and is the last frame of a stream. A stream that
// ends without one has broken.
//
// # Who owns what
//
// A [Scanner] belongs to one stream, and to the loop like everything of an endpoint. It
// writes payloads straight to their landing places, or shows them where they are; it copies
// nothing but what it has read ahead of a frame that is not whole.
package framing
