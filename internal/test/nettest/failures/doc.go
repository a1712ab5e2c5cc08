// Package failures has ranks fail: killed, stopped, cut off, gone in the middle of it.
package failures
