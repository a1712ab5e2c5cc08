package strand

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/reach"
)

// whereabouts is what a communicator knows of where its processes are. They tell each other as part of the
// first collective call with data: of what a rank knows by itself it can not take what all others take too.
type whereabouts struct {
	prepare sync.Once
	turn    chan struct{} // has room for one: who finds out
	places  atomic.Pointer[coll.Places]
}

// maxProcessors bounds the processors of a host that are told apart. The largest hosts have some hundred, and as many threads again.
const maxProcessors = 1024

// whereabout is what a rank tells: its host's name, the processors that it may use, how it has values in memory, and flags.
const whereabout = 8 + maxProcessors/8 + 2

const (
	byMemoryFlag = 1 << iota // it passes messages by shared memory
	crowdedFlag              // its job has more ranks on its host than there are processors, whether they are of this communicator or not
)

// located has the communicator know where its processes are. Two processes have nothing to choose.
func (k *courier) located(ctx context.Context) error {
	k.teams.Places = nil
	if k.Size() < 3 {
		return nil
	}
	return k.locate(ctx)
}

func (k *courier) locate(ctx context.Context) error {
	w := &k.comm.where
	if k.teams.Places = w.places.Load(); k.teams.Places != nil {
		return nil
	}
	w.prepare.Do(func() { w.turn = make(chan struct{}, 1) })
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.places.Load() == nil {
		p, err := k.askAll(ctx)
		if err != nil {
			return err
		}
		w.places.Store(p)
	}
	k.teams.Places = w.places.Load()
	return nil
}

// askAll exchanges what ranks know of themselves.
func (k *courier) askAll(ctx context.Context) (*coll.Places, error) {
	defer func(tag int) { k.tag = tag }(k.tag)
	k.tag = tagPlaces
	all := make([]byte, k.Size()*whereabout)
	if err := coll.Allgather(ctx, k, &coll.Choice{Allgather: "bruck"}, k.comm.world.whereabout, all); err != nil {
		return nil, err
	}
	return placesOf(all), nil
}

// placesOf reads what all have told.
func placesOf(all []byte) *coll.Places {
	var names []uint64
	processors, ranks := map[uint64]*[maxProcessors / 8]byte{}, map[uint64]int{}
	byMemory, crowded, traits := true, false, all[whereabout-2]
	for ; len(all) > 0; all = all[whereabout:] {
		name := binary.LittleEndian.Uint64(all)
		names = append(names, name)
		flags := all[whereabout-1]
		// What is in memory tells nobody that its values are another machine's.
		byMemory = byMemory && flags&byMemoryFlag != 0 && all[whereabout-2] == traits
		crowded = crowded || flags&crowdedFlag != 0
		if ranks[name]++; processors[name] == nil {
			processors[name] = new([maxProcessors / 8]byte)
		}
		for i := range processors[name] {
			processors[name][i] |= all[8+i]
		}
	}
	for name, set := range processors {
		n := 0
		for _, b := range set {
			n += bits.OnesCount8(b)
		}
		crowded = crowded || ranks[name] > n
	}
	p := coll.PlacesOf(names, crowded)
	p.ByMemory = byMemory
	return p
}

// ownWhereabout is that of this process, and of the thread that opens the world. Ranks are on one host if they see the same network: those have memory in
// common too, as package btl/sm has it.
func ownWhereabout(byMemory, crowded bool, traits representation.Traits) []byte {
	b := make([]byte, whereabout)
	name := fnv.New64a()
	if network := reach.ThisNetwork(); network != (reach.Network{}) {
		name.Write(network[:])
	} else if host, err := os.Hostname(); err == nil {
		name.Write([]byte(host))
	}
	binary.LittleEndian.PutUint64(b, name.Sum64())
	for _, cpu := range usableProcessors() {
		b[8+cpu%maxProcessors/8] |= 1 << (cpu % 8)
	}
	b[whereabout-2] = byte(traits)
	if byMemory {
		b[whereabout-1] |= byMemoryFlag
	}
	if crowded {
		b[whereabout-1] |= crowdedFlag
	}
	return b
}

// SplitShared makes one communicator for each host, of the processes that run there: those that may share
// memory (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED). Their ranks are in the order of their keys and, among equal keys, of
// their ranks in c. All processes of c call it. In different network namespaces of one machine, containers as a
// rule, processes are on different hosts.
func (c *Comm) SplitShared(ctx context.Context, key int) (s *Comm, err error) {
	err = c.collectively(ctx, call{name: "SplitShared"}, func(number int64) error {
		k := &c.courier
		k.begin(c, "SplitShared", tagOf(number))
		err := k.locate(ctx)
		if k.end(err); err != nil {
			return err
		}
		s, err = c.splitIn(ctx, "SplitShared", number, k.teams.Places.Host(c.rank), key)
		return err
	})
	return s, err
}
