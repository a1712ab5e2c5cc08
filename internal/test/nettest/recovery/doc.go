// Package recovery has links fail that come back, or have others beside them.
package recovery
