// Package builtin is the one place that names the transports that come with
// Strand. Importing it registers them with btl.Default.
package builtin

import (
	_ "github.com/strandmp/strand/btl/sctp" // SCTP: a stream for each lane
	_ "github.com/strandmp/strand/btl/self" // a rank to itself
	_ "github.com/strandmp/strand/btl/sm"   // shared memory, between ranks of one host
	_ "github.com/strandmp/strand/btl/tcp"  // TCP over the hosts' networks
	_ "github.com/strandmp/strand/btl/udp"  // UDP: frames in any order
)
