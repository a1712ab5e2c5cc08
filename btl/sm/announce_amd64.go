package sm

import (
	"sync/atomic"
	"unsafe"
)

// inOrder: processors of this kind show their stores in the order in which they were made (Intel SDM, volume 3A, section 8.2.2; AMD APM, volume 2,
// section 7.2).
const inOrder = true

// announce stores a word behind what it announces. It does not wait until others can see it, which takes as long as a fifth of a
// short message. So what is read after it may have been read before the store (again_linux.go).
func announce(at *atomic.Uint64, word uint64) { *(*uint64)(unsafe.Pointer(at)) = word }
