//go:build linux && !race

package contact_test

const raceDetector = false
