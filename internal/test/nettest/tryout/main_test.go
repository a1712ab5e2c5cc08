//go:build linux

package tryout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/strandcmd"
)

// commandName, as the name by which this test program was called, makes it the command strand.
const commandName = "strand"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == commandName {
		strandcmd.Main()
	}
	nettest.Main(m, nil)
}
