package param

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const markdownHead = `# Parameters

This page is generated from the declarations in the code. Do not edit it.

A parameter is set by a flag (` + "`strand run -p name=value`" + `), by an option of the program, by an environment variable
(` + "`STRAND_`" + ` and the name in capitals: ` + "`STRAND_BTL_TCP_IF_INCLUDE`" + ` sets ` + "`btl_tcp_if_include`" + `) or by a file of lines
` + "`name = value`" + `. The earlier of these wins over the later. Files are ` + "`strand.conf`" + ` in the working directory,
` + "`strand/strand.conf`" + ` in the user's configuration directory and ` + "`/etc/strand.conf`" + `; again the earlier wins.
In a file ` + "`#`" + ` starts a comment, and a value may stand in quotes.

A size is digits and, if wanted, K, M, G or T for powers of 1024. A duration is numbers with units, as in 500ms or 1m30s.
A list is items separated by commas. A bool is true or false (or yes, no, on, off, 1, 0).
`

// WriteMarkdown writes the page that documents every parameter: a table for
// each part of Strand. The same declarations give the same page.
func WriteMarkdown(w io.Writer, r *Registry) error {
	groups := make(map[string][]Spec)
	for _, spec := range r.Specs() {
		group := groupOf(spec.Name)
		groups[group] = append(groups[group], spec)
	}
	page := bytes.NewBufferString(markdownHead)
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(page, "\n## %s\n\n", group)
		page.WriteString("| name | type | default | allowed | level | meaning |\n|---|---|---|---|---|---|\n")
		for _, spec := range groups[group] {
			writeRow(page, spec)
		}
	}
	_, err := w.Write(page.Bytes())
	return err
}

// groupOf returns the part of Strand that a parameter belongs to: the first
// word of its name, and for transports, btl_tcp_port_min, the second as well.
func groupOf(name string) string {
	words := strings.SplitN(name, "_", 3)
	if words[0] == "btl" && len(words) == 3 {
		return words[0] + "_" + words[1]
	}
	return words[0]
}

func writeRow(page *bytes.Buffer, s Spec) {
	kind := s.Kind.String()
	if s.Unit != "" {
		kind += ", " + s.Unit
	}
	cells := []string{code(s.Name), prose(kind), code(s.Default), prose(s.Allowed()), s.Level.String(), prose(s.Help)}
	fmt.Fprintf(page, "| %s |\n", strings.Join(cells, " | "))
}

// prose makes text safe for a cell of a table.
func prose(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", `\`, `\\`).Replace(text)
}

// code sets text as code in a cell of a table. A bar needs its backslash there too.
func code(text string) string {
	if text == "" {
		return ""
	}
	fence, space := "`", ""
	if strings.Contains(text, "`") {
		fence, space = "``", " "
	}
	return fence + space + strings.ReplaceAll(text, "|", `\|`) + space + fence
}
