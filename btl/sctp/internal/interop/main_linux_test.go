package interop

import (
	"testing"

	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }
