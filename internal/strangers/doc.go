// Package strangers decides who of those that have come and have not proved themselves may
// stay, where there is no room for all. It is pure: it knows no sockets, takes the time and
// chance as arguments, and is one for all transports.
//
// A stranger has a place from when a transport takes it in until it has proved itself or is
// gone. Places are few. While one is free everybody gets one. When none is, whoever comes
// takes the place of somebody:
//
//   - Shares are fair. The host that holds most places pays, and of its ports the one that
//     holds most: so a flood from one host, with as many connections as it likes, pays for
//     every member of another one, at once, and a flood from one port for every member of
//     the same host. A host is an address, since that is what a stranger can not choose
//     freely: a transport takes nobody in before its address has answered.
//   - Among equals, such as a flood and a member at the same address, those go first that
//     had time enough: who is silent after 100 ms, as a peer says at once what it wants, and
//     who has claimed to be a rank after 500 ms.
//   - If nobody had, chance decides, among the silent or the claiming, whichever are more.
//     So who claims is not pushed out by who is silent, nor the other way round. With n
//     places, and r strangers a second that come, one whose handshake takes t gets through
//     with a chance of exp(-r·t/n), however long the flood goes on: bounded in time, since
//     it tries again. To let the first ones stay would leave n/r seconds to each, which is
//     no chance at all for whom that is too short; to refuse who comes late would make
//     those wait that a flood overtakes.
//
// What taking in costs a process is bounded by a pace, for exchanges among equals: what makes
// shares fairer is never put off, and can not go on for long.
package strangers
