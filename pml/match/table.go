package match

// table finds the lists for a (source, tag) by open addressing. Buckets whose
// lists have run empty stay until the table is full; then they are swept out,
// so that neither a tag used over and over nor tags never used again cost more
// than their share. The zero value is ready.
type table struct {
	buckets []bucket
	used    int
	spare   []bucket // what the last sweep left: as many, all free
}

type bucket struct {
	key      uint64
	used     bool
	posted   recvList
	messages messageList
}

func (b *bucket) empty() bool { return b.posted.head == nil && b.messages.head == nil }

func key(source, tag int32) uint64 { return uint64(uint32(source))<<32 | uint64(uint32(tag)) }

// spread is the finalizer of MurmurHash3: each bit of a key moves every bit of
// the result, whatever pattern sources and tags are numbered by. (Multiplying
// and folding once, cheaper by a nanosecond, puts sources that are multiples of
// a power of two side by side.)
func spread(k uint64) uint64 {
	k ^= k >> 33
	k *= 0xFF51AFD7ED558CCD
	k ^= k >> 33
	k *= 0xC4CEB9FE1A85EC53
	return k ^ k>>33
}

// find returns the bucket of a key or nil. The pointer is good until the next
// call of get.
func (t *table) find(k uint64) *bucket {
	if len(t.buckets) == 0 {
		return nil
	}
	mask := uint64(len(t.buckets) - 1)
	for i := spread(k) & mask; ; i = (i + 1) & mask {
		b := &t.buckets[i]
		if !b.used {
			return nil
		}
		if b.key == k {
			return b
		}
	}
}

// get returns the bucket of a key, which it makes if need be.
func (t *table) get(k uint64) *bucket {
	if b := t.find(k); b != nil {
		return b
	}
	if 2*(t.used+1) > len(t.buckets) {
		t.rebuild()
	}
	b := t.slot(k)
	b.used, b.key = true, k
	t.used++
	return b
}

// slot returns the free bucket for a key that is not in the table.
func (t *table) slot(k uint64) *bucket {
	mask := uint64(len(t.buckets) - 1)
	i := spread(k) & mask
	for t.buckets[i].used {
		i = (i + 1) & mask
	}
	return &t.buckets[i]
}

// minBuckets makes sweeps rare where there is little to sweep.
const minBuckets = 64

// rebuild drops the empty buckets and leaves room for as many again as are left:
// at least a quarter of the new size can be entered before the next one, so that
// its cost, spread over those, is constant.
func (t *table) rebuild() {
	live := 0
	for i := range t.buckets {
		if !t.buckets[i].empty() {
			live++
		}
	}
	size := minBuckets
	for size < 4*(live+1) {
		size *= 2
	}
	old := t.buckets
	if len(t.spare) != size {
		t.spare = make([]bucket, size)
	}
	t.buckets, t.used, t.spare = t.spare, live, nil
	for i := range old {
		if b := &old[i]; !b.empty() {
			*t.slot(b.key) = *b
		}
	}
	if len(old) == size {
		clear(old)
		t.spare = old
	}
}
