package credit

// Unit is what credit is counted in, in bytes.
const Unit = 64

// Envelope is the price of a message beside its data, in units: the memory that its
// envelope takes while it is unexpected.
const Envelope = 7

// Most is the most credit, in units, that anybody has to spend: pml_credit_max at its
// most.
const Most = 1 << 30 / Unit

// Price is what a message that comes with n bytes of data costs, in units.
func Price(n int) uint32 {
	return Envelope + uint32((n+Unit-1)/Unit)
}
