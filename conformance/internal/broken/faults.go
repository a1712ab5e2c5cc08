package broken

import "slices"

// Faults are all ways in which a transport is broken here.
var Faults = slices.Concat(sendFaults, keptFaults, receiveFaults, connectionFaults, moduleFaults)
