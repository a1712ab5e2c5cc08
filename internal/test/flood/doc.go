// Package flood makes strangers by the thousand, for tests of what transports bear: it sends
// what anybody can send who knows where a process listens.
package flood
