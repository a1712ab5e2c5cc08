package match

// table finds the lists for a (source, tag) by open addressing. Buckets whose
// lists have run empty stay until the table is full; then they are swept out,
// so that neither a tag used over and over nor tags never used again cost more
// than their share. The zero value is ready.
type table struct {
	buckets []bucket
	used    int
}

type bucket struct {
	key      uint64
	used     bool
	posted   recvList
	messages messageList
}

func (b *bucket) empty() bool { return b.posted.head == nil && b.messages.head == nil }

func key(source, tag int32) uint64 { return uint64(uint32(source))<<32 | uint64(uint32(tag)) }

// spread is Fibonacci hashing with the high bits folded down.
func spread(k uint64) uint64 {
	k *= 0x9E3779B97F4A7C15
	return k ^ k>>32
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

const minBuckets = 16

// rebuild drops the empty buckets and leaves room for as many again as are left.
func (t *table) rebuild() {
	live := 0
	for i := range t.buckets {
		if t.buckets[i].used && !t.buckets[i].empty() {
			live++
		}
	}
	size := minBuckets
	for size < 4*(live+1) {
		size *= 2
	}
	old := t.buckets
	t.buckets, t.used = make([]bucket, size), live
	for i := range old {
		if b := &old[i]; b.used && !b.empty() {
			*t.slot(b.key) = *b
		}
	}
}
