package btl

import "github.com/strandmp/strand/param"

// Secrecy says who can read what a module carries, or change it unnoticed, beside the two
// processes.
type Secrecy uint8

const (
	// Clear: whoever is on the way between the two.
	Clear Secrecy = iota
	// Within: whoever may look into a process of this host. Nothing leaves the host.
	Within
	// Encrypted: nobody. What arrives is used only after it is proved to be what the peer sent.
	Encrypted
)

func (s Secrecy) String() string {
	switch s {
	case Clear:
		return "clear"
	case Within:
		return "within"
	case Encrypted:
		return "encrypted"
	}
	return "invalid secrecy"
}

// A Secretive component has a parameter by which the user asks for secret messages. While it is
// set, no module of any component that is [Clear] is used, so that nothing falls back to it.
// Optional.
type Secretive interface {
	// Secret is that setting, for people: name, value and where it is from. It is empty if the
	// user has not asked for secret messages.
	Secret(*param.Values) string
}
