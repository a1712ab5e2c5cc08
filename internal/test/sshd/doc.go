// Package sshd tries jobs on several hosts with the ssh and sshd of OpenSSH.
package sshd
