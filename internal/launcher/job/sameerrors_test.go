package job

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrorsOfManyHosts(t *testing.T) {
	var hosts []string
	var errs []error
	for i := range 64 {
		name := fmt.Sprintf("node%d", i)
		hosts = append(hosts, name)
		switch i {
		case 5:
			errs = append(errs, nil)
		case 7:
			errs = append(errs, errors.New("host node7: no route"))
		default:
			errs = append(errs, fmt.Errorf("host %s: no strand by %q: exit status 127", name, "ssh "+name+" strand run-elsewhere"))
		}
	}
	err := joinErrors(hosts, errs)
	assert.EqualError(t, err, "hosts node0, node1, node2 and 59 more (62 in all), each alike: "+
		"host node0: no strand by \"ssh node0 strand run-elsewhere\": exit status 127\nhost node7: no route")
	assert.ErrorIs(t, err, errs[0])
	assert.NoError(t, joinErrors(hosts, make([]error, 64)))
	// A name that is part of a word is not the host's.
	assert.EqualError(t, joinErrors([]string{"a", "b"}, []error{errors.New("host a: a bad day"), errors.New("host b: b bad day")}),
		"hosts a, b, each alike: host a: a bad day")
}
