// Package conformance is the suite that every transport has to pass.
//
// A transport is a [btl.Component]. Its author needs nothing but a [Factory]:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func() conformance.Subject {
//			return conformance.Subject{
//				Component: New(),
//				Settings:  []param.Setting{{Name: "btl_tcp_if_include", Text: "lo"}},
//			}
//		})
//	}
//
// The suite brings its own hosts, one for each rank, all in this process, and a
// progress loop that can be stopped and stepped, so that it can look at what a
// transport does between two polls. Whatever a case does, all that the transport
// calls is checked against the contract: who calls, when, in which order, with
// which bytes. A result therefore names the rule that was broken, which is not
// always the one that the case is about.
//
// What a module says of itself in its [btl.Attr] decides what is expected: order
// if Ordered, arrival if Reliable, release after arrival if Local. What it can
// not do (a module that reaches its own rank only has no peer that dies) makes a
// case not applicable, with the reason in the result.
//
// [Run] is for go test, [Check] for everything else, [RunRegistered] for holding
// all transports of a registry to the suite, so that none can be forgotten.
//
// The suite looks for leaks of goroutines, descriptors and memory. It must not
// run beside other tests of the same process (t.Parallel).
package conformance
