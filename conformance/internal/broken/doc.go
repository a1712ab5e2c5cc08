// Package broken breaks a correct transport, in one way at a time, so that the
// conformance suite can be seen to notice.
package broken
