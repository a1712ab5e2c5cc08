// Package chunk is the bytes of SCTP: packets (RFC 9260, section 3), their chunks, parameters and error
// causes, with I-DATA (RFC 8260) and the checksum that may be left out (RFC 9653).
//
// Reading allocates nothing and copies nothing. What it returns are views into the packet. They are valid
// as long as the packet is. Nothing is taken for granted: every length is checked before it is used.
//
//	header, chunks, err := chunk.Parse(packet, false)
//	for c, ok := chunks.Next(); ok; c, ok = chunks.Next() {
//		switch c.Type {
//		case chunk.TypeData, chunk.TypeInterleaved:
//			d, err := chunk.ParseData(c)
//
// Writing appends to a buffer of the caller's:
//
//	b = chunk.AppendHeader(b[:0], header)
//	b = chunk.AppendSACK(b, sack)
//	b = chunk.AppendData(b, data, first, second)
//	chunk.Seal(b)
//
// What a chunk means is not known here.
package chunk
