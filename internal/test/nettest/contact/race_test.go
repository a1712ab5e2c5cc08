//go:build linux && race

package contact_test

// raceDetector: its memory is not the program's.
const raceDetector = true
