package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// pairKey is what ranks a and b share.
func (w *world) pairKey(a, b int) []byte {
	key := sha256.Sum256(fmt.Appendf(nil, "%x %s %d %d", w.secret, w.variant.keys, min(a, b), max(a, b)))
	return key[:]
}

// reveals says what of rank r's secrets can be read in something that others see; it is empty if that
// is nothing.
func (r *rank) reveals(shown []byte) string {
	if written(shown, r.w.secret) {
		return "the job's secret"
	}
	for other := range r.w.ranks {
		if written(shown, r.w.pairKey(r.id, other)) {
			return fmt.Sprintf("the key of ranks %d and %d", r.id, other)
		}
	}
	return ""
}

// written reports whether the beginning of something secret stands in a text, in one of the ways in which
// programs write bytes.
func written(shown, secret []byte) bool {
	b := secret[:12]                                    // no padding in base64
	decimal := strings.Trim(fmt.Sprintf("%d", b), "[]") // as fmt prints bytes by itself
	for _, form := range []string{
		string(b), fmt.Sprintf("%x", b), fmt.Sprintf("%X", b), decimal, strings.ReplaceAll(decimal, " ", ", "),
		base64.StdEncoding.EncodeToString(b), base64.URLEncoding.EncodeToString(b), strings.Trim(fmt.Sprintf("%q", b), `"`),
	} {
		if bytes.Contains(shown, []byte(form)) {
			return true
		}
	}
	return false
}

// discreet holds what a module shows to everybody against its host's secrets.
func (r *rank) discreet(what string, shown []byte) {
	if secret := r.reveals(shown); secret != "" {
		r.w.t.violate(ruleDiscreet, "rank %d: %s shows %s", r.id, what, secret)
	}
}
