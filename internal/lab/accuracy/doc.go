// Package accuracy measures what an emulated link does, from outside: by the
// sockets and interfaces of its hosts, not by what the emulation says of itself.
// It answers whether results that were got over such links on this machine can
// be believed.
package accuracy
