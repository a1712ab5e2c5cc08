package rails

// A State is what a rail is good for at the moment.
type State uint8

// The states. Those from Resting on are connected.
const (
	Idle State = iota
	Connecting
	Breaking
	Down
	Gone
	Resting
	Trial
	Doubted
	Up
)

var names = [...]string{"idle", "connecting", "breaking", "down", "gone", "resting", "on trial", "doubted", "up"}

func (s State) String() string { return names[s] }

// Connected reports whether a connection is there, whatever it is used for.
func (s State) Connected() bool { return s >= Resting }

// A Stage is how far things have come with a peer.
type Stage uint8

// The stages.
const (
	New       Stage = iota // nothing is known but the rank
	Resolving              // its addresses are being fetched
	Known                  // there are rails, connected or not
	Closed                 // it has said goodbye
	Failed
)
