//go:build linux && !race

package nettest_test

const raceDetector = false
