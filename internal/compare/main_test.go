package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// asMember is the first argument of a process of this program that is a rank.
const asMember = "member"

// Transports that the ranks of a test treat badly, as their second argument says.
const (
	crash = "crash:"
	hang  = "hang:"
)

// member is a rank: it does what it is told, unless its transport is to be treated badly.
func member(how, argument string) error {
	var o order
	if err := json.Unmarshal([]byte(argument), &o); err != nil {
		return err
	}
	tryOut := string(o.Workload.Parameters) == `{"rounds":1,"sizes":[8],"warmup":0}`
	switch {
	case how == crash+o.Transport && !tryOut:
		panic("as the test wants it")
	case how == hang+o.Transport && !tryOut:
		select {}
	}
	return Member(context.Background(), argument)
}

func playMember() {
	if len(os.Args) == 4 && os.Args[1] == asMember {
		if err := member(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// config is a comparison whose ranks are this program. how is what they do badly.
func config(t *testing.T, p Plan, ground Ground, how string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Plan: p, Ground: ground, Program: self, Arguments: []string{asMember, how}, Version: "test"}
}
