// Package far has tests of the message layer over ways that take their time, in virtual time.
package far
