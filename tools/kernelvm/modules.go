package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// moduleFiles finds all modules of a kernel, by their names.
func moduleFiles(dir string) (map[string]string, error) {
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(filepath.Base(file), ".ko"); ok && err == nil {
			files[moduleName(name)] = file
		}
		return err
	})
	return files, err
}

// moduleName is the kernel's spelling.
func moduleName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// loadOrder lists the modules named and those that they depend on, each after
// its own. Builtin are the modules that this kernel has without loading.
func loadOrder(names []string, files map[string]string, builtin map[string]bool, info func(file string) (map[string]string, error)) ([]string, error) {
	var order []string
	done := make(map[string]bool)
	var add func(name, by string, must bool) error
	add = func(name, by string, must bool) error {
		name = moduleName(name)
		if name == "" || done[name] || builtin[name] {
			return nil
		}
		done[name] = true
		file, ok := files[name]
		if !ok {
			if must {
				return fmt.Errorf("kernel module %s, %s: this kernel does not have it", name, by)
			}
			return nil
		}
		facts, err := info(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, d := range strings.Split(facts["depends"], ",") {
			if err := add(d, "needed by "+name, true); err != nil {
				return err
			}
		}
		for _, d := range softDependencies(facts["softdep"]) {
			if err := add(d, "wanted by "+name, false); err != nil {
				return err
			}
		}
		order = append(order, name)
		return nil
	}
	for _, name := range names {
		if err := add(name, "asked for by -modules", true); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// softDependencies are the modules to load before: "pre: a b post: c" gives a, b.
func softDependencies(text string) []string {
	var before []string
	pre := false
	for _, word := range strings.Fields(text) {
		switch {
		case strings.HasSuffix(word, ":"):
			pre = word == "pre:"
		case pre:
			before = append(before, word)
		}
	}
	return before
}

// moduleInfo reads what a module says of itself.
func moduleInfo(file string) (map[string]string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("no section .modinfo")
	}
	text, err := section.Data()
	if err != nil {
		return nil, err
	}
	facts := make(map[string]string)
	for _, fact := range bytes.Split(text, []byte{0}) {
		if key, value, ok := strings.Cut(string(fact), "="); ok {
			facts[key] = value
		}
	}
	return facts, nil
}

// builtinModules reads the list of what is in the kernel itself.
func builtinModules(dir string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return nil, err
	}
	builtin := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		builtin[moduleName(strings.TrimSuffix(filepath.Base(strings.TrimSpace(line)), ".ko"))] = true
	}
	return builtin, nil
}
