package layout

import (
	"sort"
	"unsafe"
)

// Pack copies the message's bytes, from offset on, to data, as far as there is so much of either, and returns how many. The
// memory begins at base.
func (l *Layout) Pack(base unsafe.Pointer, offset int, data []byte) int {
	if offset >= l.size || len(data) == 0 {
		return 0
	}
	w := walk{base: base}
	return w.copy(l, 0, offset, data)
}

// Unpack copies data to where the message's bytes lie, from offset on, as far as there is so much of either, and returns how many.
func (l *Layout) Unpack(base unsafe.Pointer, offset int, data []byte) int {
	if offset >= l.size || len(data) == 0 {
		return 0
	}
	w := walk{base: base, unpacks: true}
	return w.copy(l, 0, offset, data)
}

// Run returns the memory of the message's bytes from offset on, as far as they follow each other. It is nil at the end.
func (l *Layout) Run(base unsafe.Pointer, offset int) []byte {
	if offset >= l.size {
		return nil
	}
	at := 0
	for !l.plain() {
		at += l.at
		switch {
		case l.runs != nil:
			i := l.find(offset)
			b, skip := l.runs[i], offset-l.begin(i)
			return unsafe.Slice((*byte)(unsafe.Add(base, at+b.At+skip)), b.Size-skip)
		case l.parts != nil:
			i := l.find(offset)
			offset -= l.begin(i)
			l = l.parts[i]
		default:
			at += offset / l.inner.size * l.stride
			offset %= l.inner.size
			l = l.inner
		}
	}
	return unsafe.Slice((*byte)(unsafe.Add(base, at+l.at+offset)), l.size-offset)
}

// find is the part, or the run, that has the message's byte at an offset.
func (l *Layout) find(offset int) int {
	if offset < l.ends[0] {
		return 0
	}
	return sort.SearchInts(l.ends, offset+1)
}

// begin is where a part, or a run, begins in the message.
func (l *Layout) begin(i int) int {
	if i == 0 {
		return 0
	}
	return l.ends[i-1]
}

// A walk goes through memory. Pointers are made of places only where there is something, since one that
// leads elsewhere is none to the garbage collector.
type walk struct {
	base    unsafe.Pointer
	unpacks bool
}

// copy copies the bytes of l from offset on, which is below its size. At is what l's places are counted from.
func (w *walk) copy(l *Layout, at, offset int, data []byte) int {
	at += l.at
	switch {
	case l.inner != nil && l.inner.plain():
		return w.strided(l, at+l.inner.at, offset, data)
	case l.inner != nil:
		return w.repeated(l, at, offset, data)
	case l.runs != nil:
		return w.listed(l, at, offset, data)
	case l.parts != nil:
		return w.joined(l, at, offset, data)
	}
	n := min(len(data), l.size-offset)
	w.move(at+offset, data[:n])
	return n
}

// move copies one run.
func (w *walk) move(at int, data []byte) {
	memory := unsafe.Slice((*byte)(unsafe.Add(w.base, at)), len(data))
	if w.unpacks {
		copy(memory, data)
	} else {
		copy(data, memory)
	}
}

func (w *walk) joined(l *Layout, at, offset int, data []byte) int {
	done, i := 0, l.find(offset)
	for skip := offset - l.begin(i); i < len(l.parts) && done < len(data); i++ {
		done += w.copy(l.parts[i], at, skip, data[done:])
		skip = 0
	}
	return done
}

func (w *walk) repeated(l *Layout, at, offset int, data []byte) int {
	done, i, skip := 0, offset/l.inner.size, offset%l.inner.size
	for ; i < l.count && done < len(data); i++ {
		done += w.copy(l.inner, at+i*l.stride, skip, data[done:])
		skip = 0
	}
	return done
}

func (w *walk) listed(l *Layout, at, offset int, data []byte) int {
	i := l.find(offset)
	done := 0
	if skip := offset - l.begin(i); skip > 0 {
		b := l.runs[i]
		done = min(len(data), b.Size-skip)
		w.move(at+b.At+skip, data[:done])
		i++
	}
	for _, b := range l.runs[i:] {
		if b.Size > len(data)-done {
			if done < len(data) {
				w.move(at+b.At, data[done:])
			}
			return len(data)
		}
		if b.Size == word {
			w.word(at+b.At, unsafe.Pointer(&data[done]))
		} else {
			w.move(at+b.At, data[done:done+b.Size])
		}
		done += b.Size
	}
	return done
}

// strided copies of runs that are repeated; at is the first one's place.
func (w *walk) strided(l *Layout, at, offset int, data []byte) int {
	size := l.inner.size
	done, i, skip := 0, offset/size, offset%size
	if skip > 0 {
		done = min(len(data), size-skip)
		w.move(at+i*l.stride+skip, data[:done])
		i++
	}
	if whole := min((len(data)-done)/size, l.count-i); whole > 0 {
		w.blocks(at+i*l.stride, l.stride, size, whole, data[done:])
		done += whole * size
		i += whole
	}
	if done < len(data) && i < l.count {
		w.move(at+i*l.stride, data[done:])
		done = len(data)
	}
	return done
}

// Runs of a few bytes are copied by one instruction each. An array of bytes may lie anywhere, on any processor.
const (
	half = 4
	word = 8
	pair = 16
)

func (w *walk) word(at int, data unsafe.Pointer) {
	memory := unsafe.Add(w.base, at)
	if w.unpacks {
		*(*[word]byte)(memory) = *(*[word]byte)(data)
	} else {
		*(*[word]byte)(data) = *(*[word]byte)(memory)
	}
}

// blocks copies n runs of size bytes.
func (w *walk) blocks(at, stride, size, n int, data []byte) {
	p := unsafe.Pointer(unsafe.SliceData(data))
	switch {
	case size == half && w.unpacks:
		for i := range n {
			*(*[half]byte)(unsafe.Add(w.base, at+i*stride)) = *(*[half]byte)(unsafe.Add(p, i*half))
		}
	case size == half:
		for i := range n {
			*(*[half]byte)(unsafe.Add(p, i*half)) = *(*[half]byte)(unsafe.Add(w.base, at+i*stride))
		}
	case size == word && w.unpacks:
		for i := range n {
			*(*[word]byte)(unsafe.Add(w.base, at+i*stride)) = *(*[word]byte)(unsafe.Add(p, i*word))
		}
	case size == word:
		for i := range n {
			*(*[word]byte)(unsafe.Add(p, i*word)) = *(*[word]byte)(unsafe.Add(w.base, at+i*stride))
		}
	case size == pair && w.unpacks:
		for i := range n {
			*(*[pair]byte)(unsafe.Add(w.base, at+i*stride)) = *(*[pair]byte)(unsafe.Add(p, i*pair))
		}
	case size == pair:
		for i := range n {
			*(*[pair]byte)(unsafe.Add(p, i*pair)) = *(*[pair]byte)(unsafe.Add(w.base, at+i*stride))
		}
	default:
		for i := range n {
			w.move(at+i*stride, data[i*size:(i+1)*size])
		}
	}
}
