// Package strangers decides which connections may stay, of those that have not proved
// themselves, when there is no room for all. It is pure: it knows no sockets, and takes the time
// and chance as arguments. All transports use it.
//
// A stranger has a place from when a transport takes it in until it has proved itself or is
// gone. Places are few. While one is free everybody gets one. When none is free, whoever comes
// takes the place of somebody:
//
//   - Shares are fair. The host that holds most places pays, and of its ports the one that
//     holds most. So a flood from one host pays for every member on another host, at once,
//     however many connections it has. A flood from one port pays for every member on the
//     same host. A host is an address, since a stranger can not choose its address freely: a
//     transport takes nobody in before its address has answered.
//   - Among equals, such as a flood and a member at the same address, those go first that
//     had time enough. A silent stranger has 100 ms, as a peer says at once what it wants.
//     One that has claimed to be a rank has 500 ms.
//   - If nobody had time enough chance decides, among the silent or the claiming, whichever
//     are more. So the silent do not push out those who claim, nor the other way round. With
//     n places, and r strangers a second that come, one whose handshake takes t gets through
//     with a chance of exp(-r·t/n), however long the flood goes on. As it tries again, it
//     gets in sooner or later. To have the oldest go first would leave n/r seconds to each:
//     no chance at all for one that needs longer. To refuse newcomers would keep a member
//     waiting whenever a flood has come before it.
//
// A pace bounds what exchanges among equals cost a process. An exchange that makes shares
// fairer is never put off; there can not be many in a row.
package strangers
