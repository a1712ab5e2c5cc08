//go:build linux && race

package nettest_test

// raceDetector: its memory is not the program's.
const raceDetector = true
