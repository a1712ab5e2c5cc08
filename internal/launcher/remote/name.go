package remote

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
)

// CheckName refuses what no remote shell takes for a host: words that it, or a shell behind it, takes for something else, lists, ranges, and a
// name with a port or slots. ssh has URIs too, ssh://user@host:port.
func CheckName(name string) error {
	_, address, found := strings.Cut(name, "@")
	if !found {
		address = name
	}
	switch {
	case name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "'\"\\;&|<>()$`") ||
		strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return fmt.Errorf("%q: want the name or address of a host", name)
	case strings.HasPrefix(name, "ssh://"):
		return nil
	case strings.Contains(name, ","):
		return fmt.Errorf("%q: want one host, without a comma", name)
	case strings.ContainsAny(name, "[]{}"):
		return fmt.Errorf("%q: want one host by its name; ranges such as a[1-3] are not expanded here (scontrol show hostnames does so), and brackets stand around a whole address only: [user@fd00::1]:4", name)
	case strings.Contains(address, ":") && !isAddress(address):
		return fmt.Errorf("%q: want the name or address of a host; a name has no colon, and this is no address of IPv6", name)
	}
	return nil
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
