// Package param holds every tunable of Strand. A tunable is declared once and can be set in many
// places. Each value remembers the place that it came from.
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
// (STRAND_BTL_TCP_IF_INCLUDE sets btl_tcp_if_include), that over files (an earlier file over a
// later one), and those over the default. It is an error if two places of the same rank say
// different things.
//
// # Mistakes
//
// A misspelt name that is ignored costs its owner a day. So an unknown name is an error,
// wherever it stands. All mistakes are found in one go, also those in values that something of
// higher rank overrides.
//
// # Threads
//
// A Registry is filled by one goroutine. After that any number of goroutines may use it, and any
// Values.
package param
