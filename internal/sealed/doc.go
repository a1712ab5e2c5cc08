// Package sealed makes memory that processes of a host share, and that none of them can take away from the others. Linux only.
//
// The memory is a file that is nowhere (memfd). All its pages are there before anybody uses it, and it is sealed against shrinking and
// growing. So no access to it fails, whatever the other processes do.
package sealed
