package compare

import (
	"testing"

	"github.com/strandmp/strand/internal/netspace"
	"github.com/strandmp/strand/internal/testnet"
)

func TestMain(m *testing.M) {
	netspace.Start() // ranks on hosts come by here
	playElsewhere()
	playMember()
	testnet.Main(m)
}
