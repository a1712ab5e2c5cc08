// Package wire is what the message layer puts on a network: the header of each frame,
// and the hello by which a process tells of itself. It is pure: bytes in, values out.
// docs/WIRE.md describes every byte, and the tests of this package hold it to the code.
//
//   - [Header] is any header, decoded. [Header.Encode] and [Header.Decode] are the one
//     encoder and the one decoder; what Decode takes is what Encode would have written.
//   - A plain frame is a whole message in one frame, the common case. [PutPlain] writes its
//     header and [Plain] reads it where it lies, by the same accessors as Encode and Decode.
//   - [EncodePart] makes a header that of a part of its frame, [Restamp] brings one up to date
//     when it goes out.
//   - [Hello] tells peers what a process grants at first, and where its transports are.
//
// Nothing that arrives is trusted: Decode and [DecodeHello] check all that can be checked
// without knowing the state of the connection.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package wire
