package pmi

import "fmt"

// MappingKey is the key under which a launcher says which rank runs on which
// node.
const MappingKey = "PMI_process_mapping"

// oneNode is the mapping of size ranks on one node. Its numbers are those of the
// first node, of nodes, and of ranks on each.
func oneNode(size int) string { return fmt.Sprintf("(vector,(0,1,%d))", size) }
