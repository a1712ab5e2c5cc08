//go:build !race

package sctp

// floodRate is how many INITs a second a flood brings.
const floodRate = 4000
