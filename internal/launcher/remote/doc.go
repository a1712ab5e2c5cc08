// Package remote runs ranks of a job on another host, which it reaches by a remote shell such as
// ssh.
//
// One remote shell a host starts strand there, which calls [Serve]. The shell's standard input and
// output carry all that the ranks of that host and their launcher say to each other, the ranks'
// input and their output. So nothing listens anywhere, and the job's secret and its environment
// are on no command line.
//
// When either side ends, is cut off, or the shell ends, the other side ends too: the launcher
// counts the ranks there as lost, and strand there kills them. Both send signs of life ([Host].Timeout), the launcher
// from the introduction on, strand there from when it has its order. A launcher that is stopped on purpose says so, and is waited for.
//
// # What goes over the shell
//
// Strand there begins, with an [Introduction] on a line of JSON. The launcher answers with an
// [Order] on another one; empty lines before it are signs of life. From then on the shell carries streams ([yamux]), each with a window of
// its own: who does not read output holds up that output, and nothing else. A stream begins with
// five bytes: what it carries, and the rank, least significant byte first. One stream carries
// lines of JSON about the host as a whole: signals to ranks there, their starts and ends here.
//
// [yamux]: https://github.com/hashicorp/yamux/blob/master/spec.md
package remote
