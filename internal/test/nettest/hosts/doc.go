// Package hosts tries strand run --host between hosts with networks of their own, each with the
// sshd of OpenSSH, and what becomes of a job there when one of them, a rank, ssh or the launcher goes.
package hosts
