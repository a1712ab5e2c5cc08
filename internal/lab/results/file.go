package results

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxFile bounds a file, in bytes. A comparison of 1,000 runs with all their
// delays has a few MB.
const MaxFile = 256 << 20

// Load reads a report from a file. Its errors name the file.
func Load(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("results of a comparison: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads a report, which it does not trust.
func Read(in io.Reader) (*Report, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("is longer than %d MB: no results of a comparison are", MaxFile>>20)
	}
	return decode(text)
}

func decode(text []byte) (*Report, error) {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, notJSON(text, err)
	}
	switch {
	case head.Format == nil:
		return nil, errors.New(`has no "format": want the results.json that strand compare has written`)
	case *head.Format < oldestKnown || *head.Format > Format:
		return nil, fmt.Errorf("has format %d, this strand reads formats %d to %d: use the strand that wrote it, or run the comparison again", *head.Format, oldestKnown, Format)
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, notJSON(text, err)
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	for i := range r.Cells {
		r.Cells[i].Summaries = nil
	}
	return r, nil
}

// notJSON says where a text is wrong.
func notJSON(text []byte, err error) error {
	place := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		place = syntax.Offset
	case errors.As(err, &kind):
		place = kind.Offset
	}
	if place < 0 || place > int64(len(text)) {
		return fmt.Errorf("is not the results.json of strand compare: %w", err)
	}
	line := 1 + bytes.Count(text[:place], []byte("\n"))
	return fmt.Errorf("is not the results.json of strand compare: line %d, byte %d: %w", line, place, err)
}

// Save writes a report to a file, whole or not at all. Whatever ends this program, a reader finds
// either the old report or the new one.
func Save(path string, r *Report) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	return WriteFile(path, append(text, '\n'))
}

// WriteFile puts a text into a file, whole or not at all. The umask says who may read it.
func WriteFile(path string, text []byte) error {
	// Not os.CreateTemp: its files are their owner's alone.
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return notWritten(path, err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return notWritten(path, errors.Join(err, os.Remove(next)))
	}
	return nil
}

// notWritten is an error by the name of the file that is known, and not of the one that was to take its place.
func notWritten(path string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	} else if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
