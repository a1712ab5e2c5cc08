// Package tryout tries which addresses of two hosts can be connected with each other, in each
// direction. What routes promise is not always so: two networks of one subnet may not be joined,
// a firewall may drop, a translator may change addresses.
//
// One process on each host opens a door, a listening socket, on each of its addresses ([Open]).
// Then both try every pair of addresses that could work. One of them, the leader ([Lead]),
// reaches the other, the follower ([Follow]), over the pipes of a command that starts it, such
// as "ssh node2 strand". They talk in lines of JSON. So they need no pair of addresses that
// works to find out that none does.
//
// Whoever comes to a door says a token, which went over the pipes. The door answers with a proof
// that it knows the token: another process, or another host with the same address, is not taken
// for the peer. The answer also says from which address the door saw it come.
package tryout
