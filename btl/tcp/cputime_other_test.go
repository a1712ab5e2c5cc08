//go:build !linux

package tcp

import (
	"testing"
	"time"
)

var began = time.Now()

// threadTime stands in with the time of day.
func threadTime(testing.TB) int64 { return int64(time.Since(began)) }
