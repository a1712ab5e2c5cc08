// Package tryout finds out by trying which addresses of two hosts can be connected
// with each other, in each direction: what routes promise is not always so. Two
// networks of one subnet may not be joined, a firewall may drop, a translator may
// change addresses.
//
// One process on each host opens a door, a listening socket, on each of its addresses
// ([Open]); then both try every pair of addresses that could work ([Doors.Try]). They
// talk to each other, in lines of JSON, over the pipes of a command that the one
// starts to have the other ([Lead], [Follow]): "ssh node2 strand". So nothing has to
// work between the addresses for it to be found out that nothing does.
//
// Who comes to a door says a token, which went over the pipes, and is answered by a
// proof of it: another process, or another host that has the same address, is no
// peer. An answer says as whom the one who came is seen.
package tryout
