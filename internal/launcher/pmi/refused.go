package pmi

import (
	"fmt"
	"strings"
)

// notOffered has what PMI-1 offers and this server does not: names of services, processes that
// are started later, and what went out of use. The value is the command of the answer that a
// client waits for. The answer says rc=-1, and the client goes on.
var notOffered = map[string]string{
	"publish_name":   "publish_result",
	"unpublish_name": "unpublish_result",
	"lookup_name":    "lookup_result",
	"spawn":          "spawn_result",
	"getbyidx":       "getbyidx_results",
	"create_kvs":     "newkvs",
	"destroy_kvs":    "kvs_destroyed",
}

// commandOf returns the command of a line, "" if it has none. What follows it may be no words of PMI-1: names of services
// have blanks.
func commandOf(line string) string {
	rest, found := strings.CutPrefix(line, "cmd=")
	if !found {
		return ""
	}
	command, _, _ := strings.Cut(rest, " ")
	return command
}

// refuse answers what is not offered.
func (c *session) refuse(answer string) error {
	return c.reply(answer, "rc", "-1", "msg", "this_launcher_does_not_offer_it")
}

// A request of several lines begins with manyLines, and ends with the line lastLine. Each line
// between has one name and value. The value may have blanks.
const (
	manyLines = "mcmd="
	lastLine  = "endcmd"
)

// refuseMany reads the rest of a request of several lines, and refuses it. The only such request
// is spawn. To start several programs it comes in parts, of which only the last is answered.
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
