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
// transport does between two polls. Whatever a case does, every call of the
// transport is checked against the contract: who calls, when, in which order, with
// which bytes. So a result names the rule that was broken. That is not always the
// rule that the case is about.
//
// What a module says of itself in its [btl.Attr] decides what is expected: order
// if Ordered, arrival if Reliable, release after arrival if Confirms. A case about
// something that the module can not do is not applicable, and the result says why:
// a module that reaches its own rank only has no peer that dies.
//
// [Run] is for go test, [Check] for everything else, [RunRegistered] for holding
// all transports of a registry to the suite, so that none can be forgotten.
//
// The suite looks for leaks of goroutines, descriptors and memory. It must not
// run beside other tests of the same process (t.Parallel).
package conformance
