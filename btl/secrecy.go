package btl

import "github.com/strandmp/strand/param"

// Secrecy says who can read what a module carries, or change it unnoticed, beside the two
// processes.
type Secrecy uint8

const (
	// Clear: whoever is on the way between them.
	Clear Secrecy = iota
	// Within: whom the system lets look into a process of this host; nothing leaves it.
	Within
	// Encrypted: nobody. What arrives is proved, before any of it is used, to be what the peer
	// has sent.
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

// A Secretive component has a parameter by which the user wants messages to be secret. While he
// does, no module that is [Clear] is used, of any component, so that nothing falls back to it.
// Optional.
type Secretive interface {
	// Secret is that setting, for people: name, value and where it is from. It is empty if the
	// user does not want that.
	Secret(*param.Values) string
}
