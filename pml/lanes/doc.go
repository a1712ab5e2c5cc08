// Package lanes says in which lane the messages of a tag travel. It is pure: no I/O, no clock, no
// locks.
//
// The sender gives out the lanes: each tag that a communicator sends to a peer gets the lane after
// that of the tag before it, as the tag is first used. So ten tags are in ten lanes, whatever
// their numbers are. The receiver reads the lane from the frame and needs no rule of its own.
//
// A tag stays in its lane while anything of it is under way, since messages are in order only
// within a lane. A channel remembers up to [Most] tags. When it has many, meets a new one and
// nothing at all is under way to the peer, it forgets those that it has. A tag that finds no place
// goes by its number.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package lanes
