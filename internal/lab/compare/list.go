package compare

import (
	"fmt"
	"strings"
)

// An item is a name with parameters: tcp(congestion=cubic,links=4).
type item struct {
	name   string
	params []pair
}

type pair struct{ name, value string }

// String writes an item without what does not matter.
func (i item) String() string {
	if len(i.params) == 0 {
		return i.name
	}
	pairs := make([]string, 0, len(i.params))
	for _, p := range i.params {
		pairs = append(pairs, p.name+"="+p.value)
	}
	return i.name + "(" + strings.Join(pairs, ",") + ")"
}

// parseItems reads a list of items. Commas within parentheses separate parameters.
func parseItems(text string) ([]item, error) {
	var items []item
	for rest, more := text, true; more; {
		var one string
		var err error
		if one, rest, more, err = cutItem(rest); err != nil {
			return nil, err
		}
		i, err := parseItem(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// cutItem cuts a list at its first comma that is not within parentheses.
func cutItem(text string) (first, rest string, more bool, err error) {
	inside := false
	for at, c := range text {
		switch {
		case c == '(' && inside:
			return "", "", false, fmt.Errorf("%q has a parenthesis within parentheses; want a name with parameters, such as tcp(links=4)", text)
		case c == '(':
			inside = true
		case c == ')' && !inside:
			return "", "", false, fmt.Errorf("%q closes a parenthesis that is not open; want a name with parameters, such as tcp(links=4)", text)
		case c == ')':
			inside = false
		case c == ',' && !inside:
			return text[:at], text[at+1:], true, nil
		}
	}
	if inside {
		return "", "", false, fmt.Errorf("%q has a parenthesis that is not closed; want a name with parameters, such as 'tcp(links=4)', in quotes for the shell", text)
	}
	return text, "", false, nil
}

func parseItem(text string) (item, error) {
	name, params, has := strings.Cut(text, "(")
	i := item{name: strings.TrimSpace(name)}
	if i.name == "" {
		return i, fmt.Errorf("%q: a name is missing", text)
	}
	if !has {
		return i, nil
	}
	params, found := strings.CutSuffix(params, ")")
	if !found {
		return i, fmt.Errorf("%q: something follows the parenthesis; want a comma there", text)
	}
	for one := range strings.SplitSeq(params, ",") {
		key, value, found := strings.Cut(one, "=")
		p := pair{strings.TrimSpace(key), strings.TrimSpace(value)}
		if !found || p.name == "" {
			return i, fmt.Errorf("%q: %q is no parameter; want name=value, such as %s(name=value)", text, strings.TrimSpace(one), i.name)
		}
		i.params = append(i.params, p)
	}
	return i, nil
}
