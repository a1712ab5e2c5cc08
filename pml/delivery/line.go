package delivery

// A Line is a connection as delivery sees it: the frames that its transport has taken and
// not released, and what has become of those before. The zero value is ready.
type Line struct {
	newest *Frame
	frames int // that the transport holds
	bytes  int // of payload in these

	given     int64  // bytes that the transport has taken, headers too
	acked     uint64 // frames that the peer has acknowledged
	delivered int64  // bytes of payload in these
	released  uint64 // frames
}

// Passed notes that the transport has taken a frame and needs its memory no more.
func (l *Line) Passed(f *Frame) {
	l.took(f)
	if !f.numbered {
		f.acked = true
	}
}

// Take notes that the transport has taken a frame and holds on to its memory.
func (l *Line) Take(f *Frame) {
	l.took(f)
	l.frames++
	l.bytes += f.Size
	f.held, f.older, f.newer = true, l.newest, nil
	if l.newest != nil {
		l.newest.newer = f
	}
	l.newest = f
}

func (l *Line) took(f *Frame) {
	f.Line, f.sent = l, true
	l.given += int64(len(f.Header) + f.Size)
}

// Release notes that the transport needs a frame's memory no more.
func (l *Line) Release(f *Frame) {
	l.released++
	l.letGo(f)
}

// Reclaim takes back the newest frame from a transport that is gone. It returns nil once the
// transport holds none.
func (l *Line) Reclaim() *Frame {
	f := l.newest
	if f != nil {
		l.letGo(f)
	}
	return f
}

func (l *Line) letGo(f *Frame) {
	if f.newer != nil {
		f.newer.older = f.older
	} else {
		l.newest = f.older
	}
	if f.older != nil {
		f.older.newer = f.newer
	}
	f.held, f.newer, f.older = false, nil, nil
	l.frames--
	l.bytes -= f.Size
	if !f.numbered {
		f.acked = true
	}
}

// Newest is the last of the frames that the transport holds, nil if there is none;
// [Frame.Older] leads to the others.
func (l *Line) Newest() *Frame { return l.newest }

// Holds is how many frames the transport holds, and how many bytes of payload these have.
func (l *Line) Holds() (frames, bytes int) { return l.frames, l.bytes }

// Given is how many bytes the transport has taken, headers included.
func (l *Line) Given() int64 { return l.given }

// Delivered is how many bytes of payload are known to have arrived.
func (l *Line) Delivered() int64 { return l.delivered }

// Acknowledged is how many frames are known to have arrived.
func (l *Line) Acknowledged() uint64 { return l.acked }

// Released is how many frames the transport held and has released.
func (l *Line) Released() uint64 { return l.released }
