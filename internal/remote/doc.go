// Package remote runs ranks of a comparison on other hosts, which it reaches by a remote
// shell such as ssh.
//
// For each such rank a process runs here, the carrier ([Carry]). Package internal/launcher/job
// takes the carrier for the rank. The carrier has the remote shell start the same program there,
// which calls [Answer]. The shell's standard input and output carry what the rank and its
// launcher say to each other, and the rank's output. So nothing listens anywhere, and the job's
// secret travels by the shell's channel only.
//
// When either side or the shell ends, the other side ends too.
//
// # What goes over the wire
//
// The program there begins, with an [Introduction] on a line of JSON. The carrier answers with
// an order on another one. From then on both send frames. A frame is a byte that names the part
// that it belongs to, four bytes with the length, least significant first, and at most 64 KB of
// content. A frame without content ends its part.
package remote
