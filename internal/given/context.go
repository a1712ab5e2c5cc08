// Package given checks what callers have to give.
package given

import "context"

// Context panics if ctx is nil, as the standard library does. Every call of the public packages
// that takes a context begins with this, even if it will not have to wait. So the mistake shows
// at the first call, and not only at the first one that waits.
func Context(ctx context.Context) {
	if ctx == nil {
		panic("strand: the context is nil; context.Background() is one that never ends")
	}
}
