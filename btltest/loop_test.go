package btltest_test

import (
	"slices"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

type handler func(writable bool) bool

func (h handler) Poll(writable bool) bool { return h(writable) }

func TestPoll(t *testing.T) {
	var loop btltest.Loop
	var polled []string
	var second btl.Watch
	watch := func(name string, did bool, then func()) btl.Watch {
		w, err := loop.Watch(0, handler(func(writable bool) bool {
			if writable {
				name += " writable"
			}
			polled = append(polled, name)
			then()
			return did
		}))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := watch("first", false, func() { second.Stop() })
	second = watch("second", true, func() {})
	watch("third", false, func() {}).Write(true)
	if loop.Poll() {
		t.Error("nothing was done")
	}
	if want := []string{"first", "third writable"}; !slices.Equal(polled, want) {
		t.Errorf("%q were polled, want %q: who is stopped is not polled any more", polled, want)
	}
	first.Stop()
	watch("fourth", true, func() {})
	if !loop.Poll() {
		t.Error("something was done")
	}
}
