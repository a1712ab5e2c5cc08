//go:build !linux

package strandcmd

func becomeNobody() {}
