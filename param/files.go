package param

import (
	"os"
	"path/filepath"
)

const fileName = "strand.conf"

// DefaultFiles returns the files that are read if they exist, the strongest
// first: strand.conf in the working directory, strand/strand.conf in the
// user's configuration directory (os.UserConfigDir), /etc/strand.conf.
func DefaultFiles() []string {
	files := []string{fileName}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "strand", fileName))
	}
	return append(files, filepath.Join("/etc", fileName))
}
