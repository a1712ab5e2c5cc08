package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/machine"
)

// asMember is the first argument of a process of this program that is a rank.
const asMember = "member"

// Transports that the ranks of a test treat badly, as their second argument says.
const (
	crash = "crash:"
	hang  = "hang:"
	lie   = "lie:"
)

// member is a rank: it does what it is told, unless its transport is to be treated badly.
func member(how, argument string, out io.Writer) error {
	var o order
	if err := json.Unmarshal([]byte(argument), &o); err != nil {
		return err
	}
	tryOut := string(o.Workload.Parameters) == `{"rounds":1,"sizes":[8],"warmup":0}`
	switch {
	case how == crash+o.Transport && !tryOut:
		panic("as the test wants it")
	case how == hang+o.Transport && !tryOut:
		<-time.After(time.Hour) // Go ends a program that waits for nothing, unless it has the C library
	case how == lie+o.Transport && !tryOut:
		var told bytes.Buffer
		err := Member(context.Background(), argument, &told)
		_, _ = out.Write(regexp.MustCompile(`"p99":[^,]+`).ReplaceAll(told.Bytes(), []byte(`"p99":-1`)))
		return err
	}
	return Member(context.Background(), argument, out)
}

// testBuild is the build that programs of these tests are of.
const testBuild = "test build"

// playElsewhere is strand on another host.
func playElsewhere() {
	if len(os.Args) != 1+len(remote.Arguments) || !slices.Equal(os.Args[1:], remote.Arguments) {
		return
	}
	i := remote.Introduction{Build: testBuild, Machine: machine.This()}
	if err := remote.Serve(context.Background(), os.Stdin, os.Stdout, i, remote.Call{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func playMember() {
	if len(os.Args) == 4 && os.Args[1] == asMember {
		if err := member(os.Args[2], os.Args[3], os.Stdout); err != nil {
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
