package param

import "iter"

// Nearest returns the one of the known names that name was most likely meant to
// be, or "" if none is close. It is for the errors of those who check names
// that are values of parameters.
func Nearest(name string, known iter.Seq[string]) string { return nearest(name, known) }
