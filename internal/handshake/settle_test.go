package handshake

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettle(t *testing.T) {
	tests := []struct {
		name         string
		ours, theirs int
		at           Attempt
		epoch        uint32 // of our attempt or connection
		r            Request
		want         Decision
	}{
		{"nothing here", 0, 1, Idle, 0, Request{Epoch: 1}, Accept},
		{"both, we are the lower", 0, 1, Dialling, 1, Request{Epoch: 1}, Hold},
		{"both, we are the higher", 1, 0, Dialling, 1, Request{Epoch: 1}, Accept},
		{"both, after a connection", 0, 1, Dialling, 2, Request{Epoch: 2, Known: 1}, Hold},
		{"it had accepted our attempt, and has lost it", 0, 1, Dialling, 2, Request{Epoch: 3, Known: 2}, Accept},
		{"its attempt crossed ours, which has won", 0, 1, Dialled, 1, Request{Epoch: 1}, Refuse},
		{"its third attempt crossed ours", 0, 1, Dialled, 1, Request{Epoch: 3}, Refuse},
		{"it has lost our connection", 0, 1, Dialled, 1, Request{Epoch: 2, Known: 1}, Replace},
		{"it has lost a connection of its own", 1, 0, Accepted, 1, Request{Epoch: 2, Known: 1}, Replace},
		{"it never heard that we accepted", 1, 0, Accepted, 1, Request{Epoch: 2}, Replace},
		{"an old attempt that comes late", 1, 0, Accepted, 2, Request{Epoch: 1}, Refuse},
		{"the same attempt again", 1, 0, Accepted, 2, Request{Epoch: 2}, Refuse},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Settle(test.ours, test.theirs, test.at, test.epoch, test.r))
		})
	}
}
