// Package given checks what callers have to give.
package given

import "context"

// Context panics unless there is a context, as the standard library does. Every call of
// the public packages that takes one begins with this, whether or not it will have to wait:
// the mistake shows at the first call, not at the first that comes too early.
func Context(ctx context.Context) {
	if ctx == nil {
		panic("strand: the context is nil; context.Background() is one that never ends")
	}
}
