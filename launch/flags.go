package launch

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/strandmp/strand/param"
)

// FlagsEnv carries the parameters of a launcher's command line to the ranks,
// each with the flag it was given by.
const FlagsEnv = param.ReservedEnv + "FLAGS"

// Flags returns the parameters that were given on the launcher's command line
// (strand run --btl tcp -p name=value), with that as their source. Without
// such a launcher there are none.
func Flags() ([]param.Setting, error) {
	return DecodeFlags(os.Getenv(FlagsEnv))
}

// EncodeFlags writes settings for [FlagsEnv]: "flag:name=value" for each, with
// '&' in between and every other special byte of the three written as %XX.
func EncodeFlags(settings []param.Setting) string {
	entries := make([]string, len(settings))
	for i, s := range settings {
		entries[i] = url.QueryEscape(s.Source.Where) + ":" + url.QueryEscape(s.Name) + "=" + url.QueryEscape(s.Text)
	}
	return strings.Join(entries, "&")
}

// DecodeFlags reads what EncodeFlags wrote.
func DecodeFlags(text string) ([]param.Setting, error) {
	if text == "" {
		return nil, nil
	}
	var settings []param.Setting
	for entry := range strings.SplitSeq(text, "&") {
		s, err := decodeFlag(entry)
		if err != nil {
			return nil, fmt.Errorf("launch: %s (from the environment): entry %.80q: %w: the variable is strand run's own, do not set it", FlagsEnv, entry, err)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

func decodeFlag(entry string) (param.Setting, error) {
	flag, rest, hasFlag := strings.Cut(entry, ":")
	name, value, hasName := strings.Cut(rest, "=")
	if !hasFlag || !hasName || name == "" {
		return param.Setting{}, fmt.Errorf("is not of the form flag:name=value")
	}
	for _, part := range []*string{&flag, &name, &value} {
		plain, err := url.QueryUnescape(*part)
		if err != nil {
			return param.Setting{}, err
		}
		*part = plain
	}
	return param.Setting{Name: name, Text: value, Source: param.Source{Kind: param.Flag, Where: flag}}, nil
}
