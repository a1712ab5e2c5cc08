package sctp

// Owner is who the association belongs to; nil within Config.Accept.
func (a *Association) Owner() Owner { return a.owner }

// Tag is the verification tag of what comes to us, and PeerTag that of what we send; 0: not known yet.
func (a *Association) Tag() uint32 { return a.tag }

// PeerTag is the tag of what we send.
func (a *Association) PeerTag() uint32 { return a.peerTag }
