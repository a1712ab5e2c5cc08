package strandcmd

import (
	"io"

	"github.com/spf13/cobra"
)

// heeded is where help is written. It keeps the first error.
type heeded struct {
	io.Writer
	err error
}

func (h *heeded) Write(b []byte) (int, error) {
	n, err := h.Writer.Write(b)
	if h.err == nil {
		h.err = err
	}
	return n, err
}

// heedHelp finds out whether help could be written: the command library does not look.
func heedHelp(root *cobra.Command) *heeded {
	h, library := new(heeded), root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		h.Writer = c.OutOrStdout()
		c.SetOut(h)
		library(c, args)
		c.SetOut(h.Writer)
	})
	return h
}
