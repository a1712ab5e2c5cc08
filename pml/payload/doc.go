// Package payload has the memory of messages: the program's, which may be in several
// pieces, and the buffers that copies are kept in.
//
// What is wanted of a message is asked for by its offset ([Memory.From], [Memory.Show]), so
// that only this package knows how the bytes lie. [Pool] keeps buffers for reuse. Both are
// pure: nothing here knows of frames on their way, messages or peers.
package payload
