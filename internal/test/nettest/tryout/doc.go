// Package tryout has hosts try which of their addresses can be connected, as strand reach --try does.
package tryout
