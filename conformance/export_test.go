package conformance

// Missing is what RunRegistered complains of.
var Missing = missing
