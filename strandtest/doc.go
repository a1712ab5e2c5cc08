// Package strandtest runs the ranks of a parallel program as goroutines of one
// test, through the real message layer and a transport of choice.
package strandtest
