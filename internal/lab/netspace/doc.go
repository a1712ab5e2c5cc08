// Package netspace gives processes networks of their own: Linux's network
// namespaces, each with a host name, and a place to make them where the user may
// not.
//
// # Hosts
//
// A [Space] has no name in the file system. It is held by descriptors of the
// process that made it and by the processes in it, and ends with the last of them.
//
// # Isolation
//
// [Isolate] runs the program once more, as the first process of a process
// namespace, and as the superuser of a user namespace if this user is none. When
// that process ends, whatever way, the kernel ends all that it has started, and
// theirs; and it ends when the process that called Isolate does. So nothing is left
// behind: neither process nor namespace nor interface.
//
// A program that uses either calls [Start] first thing in main.
package netspace
