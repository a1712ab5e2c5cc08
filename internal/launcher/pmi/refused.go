package pmi

import (
	"fmt"
	"strings"
)

// What PMI-1 has and this server does not offer: names of services, processes that are started
// later, and what went out of use. The value is the command of the answer, which a client
// waits for; it then says rc=-1, and the client goes on.
var notOffered = map[string]string{
	"publish_name":   "publish_result",
	"unpublish_name": "unpublish_result",
	"lookup_name":    "lookup_result",
	"spawn":          "spawn_result",
	"getbyidx":       "getbyidx_results",
	"create_kvs":     "newkvs",
	"destroy_kvs":    "kvs_destroyed",
}

// refuse answers what is not offered.
func (c *session) refuse(answer string) error {
	return c.reply(answer, "rc", "-1", "msg", "this_launcher_does_not_offer_it")
}

// A request of several lines begins so, and ends with a line of its own. Those between are
// one name and value each, and the value may have blanks.
const (
	manyLines = "mcmd="
	lastLine  = "endcmd"
)

// refuseMany reads the rest of a request of several lines, of which there is one, and answers
// it. One that starts several programs comes in parts, and is answered after the last.
func (c *session) refuseMany(first string) error {
	command := strings.TrimPrefix(first, manyLines)
	answer, known := notOffered[command]
	if !known || command != "spawn" {
		return fmt.Errorf("pmi: mcmd=%s is no command that this launcher knows", quote(command))
	}
	var parts, part string
	for {
		line, err := c.lines.line()
		if err != nil {
			return err
		}
		if line == lastLine {
			break
		}
		switch name, value, _ := strings.Cut(line, "="); name {
		case "totspawns":
			parts = value
		case "spawnssofar":
			part = value
		}
	}
	if part != parts {
		return nil
	}
	return c.refuse(answer)
}
