//go:build !linux

package main

func becomeNobody() {}
