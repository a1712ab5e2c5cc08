package pmi

import "fmt"

// MappingKey is the key under which a launcher says which rank runs on which
// node.
const MappingKey = "PMI_process_mapping"

// oneNode is the mapping of size ranks on one node. Its numbers are the first node, how many
// nodes there are, and how many ranks are on each.
func oneNode(size int) string { return fmt.Sprintf("(vector,(0,1,%d))", size) }

// manyNodes is the mapping of size ranks on as many nodes.
func manyNodes(size int) string { return fmt.Sprintf("(vector,(0,%d,1))", size) }

// Spread says that each rank runs on a node of its own. Call it before Serve.
func (s *Server) Spread() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[MappingKey] = manyNodes(s.size)
}
