// Package param holds every tunable of Strand: declared once, set from many
// places, and each value remembers which place it came from.
//
// A part of Strand declares its tunables in a [Registry] as [Spec]s. At start
// [Registry.Resolve] collects what flags, program options, the environment and
// files say and returns [Values], which never change afterwards. Parts read
// their values once, when they are opened; nothing on the path of a message
// looks here.
//
// # Who wins
//
// A flag wins over an option of the program, that over the environment
// (STRAND_BTL_TCP_IF_INCLUDE sets btl_tcp_if_include), that over files (an
// earlier file over a later one), those over the default. Two places of the
// same rank that say different things are an error and not a silent choice.
//
// # Mistakes
//
// A misspelt name that is ignored costs its owner a day, so an unknown name is
// an error, wherever it stands. All mistakes are found in one go, also those
// in values that something of higher rank overrides.
//
// # Threads
//
// A Registry is filled by one goroutine. Once filled it, and any Values, may
// be used by any number of them.
package param
