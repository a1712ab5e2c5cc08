package compare

import (
	"testing"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) {
	netspace.Start() // ranks on hosts come by here
	playElsewhere()
	playMember()
	testnet.Main(m)
}
