package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

// guestPackage is the machine's first process.
const guestPackage = "github.com/strandmp/strand/tools/kernelvm/guest"

// passedOn are the variables of this process's that the tests get as well.
var passedOn = []string{"STRANDTEST_SOAK", "GODEBUG"}

// writeImage writes the initramfs: first process, modules, programs, tests with
// their testdata, plan.
func (s *settings) writeImage(ctx context.Context, m *machine, k *kernel, tests []testBinary) error {
	guest := m.image + ".guest"
	if _, err := command(ctx, "", "go", "build", "-ldflags=-s -w", "-o", guest, guestPackage); err != nil {
		return err
	}
	a, err := createArchive(m.image)
	if err != nil {
		return err
	}
	p := plan.Plan{Flags: s.testFlags, Limit: m.limit}
	for _, v := range passedOn {
		if value, ok := os.LookupEnv(v); ok {
			p.Env = append(p.Env, v+"="+value)
		}
	}
	a.copy("init", guest)
	a.device("dev/console", 5, 1)
	a.device("dev/null", 1, 3)
	if p.Modules, err = a.addModules(k, s.modules); err != nil {
		a.err = err
	}
	a.addSystem(m.tools)
	for i, t := range tests {
		p.Tests = append(p.Tests, a.addTest(i, t))
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	a.data(plan.File, text)
	return a.close()
}

// addModules returns the modules' files in the order of loading.
func (a *archive) addModules(k *kernel, names []string) ([]string, error) {
	files, err := moduleFiles(k.modules)
	if err != nil {
		return nil, err
	}
	builtin, err := builtinModules(k.modules)
	if err != nil {
		return nil, err
	}
	order, err := loadOrder(names, files, builtin, moduleInfo)
	if err != nil {
		return nil, err
	}
	for i, name := range order {
		order[i] = "/modules/" + name + ".ko"
		a.copy(strings.TrimPrefix(order[i], "/"), files[name])
	}
	return order, nil
}

// addSystem adds the little of a system that tests expect.
func (a *archive) addSystem(tools tools) {
	for _, name := range []string{"busybox", "sh"} { // it is what it is called by
		a.copy("bin/"+name, tools["busybox"])
	}
	for _, name := range []string{"ip", "tc", "ss"} {
		a.program(name, tools[name])
	}
	a.data("etc/passwd", []byte("root:x:0:0:root:/:/bin/busybox\n"))
	a.data("etc/group", []byte("root:x:0:\n"))
	a.data("etc/hosts", []byte("127.0.0.1 localhost strand-vm\n::1 localhost\n"))
	for _, dir := range []string{"proc", "sys", "tmp", "run"} {
		a.folder(dir)
	}
}

// addTest adds a test binary, with its testdata in the folder where it runs.
func (a *archive) addTest(i int, t testBinary) plan.Test {
	home := path.Join("/tests", strconv.Itoa(i))
	a.copy(strings.TrimPrefix(path.Join(home, "run"), "/"), t.file)
	data := filepath.Join(t.dir, "testdata")
	err := filepath.WalkDir(data, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(t.dir, file)
		a.copy(strings.TrimPrefix(path.Join(home, filepath.ToSlash(rel)), "/"), file)
		return err
	})
	if err != nil && !os.IsNotExist(err) && a.err == nil {
		a.err = err
	}
	return plan.Test{Package: t.pkg, Binary: path.Join(home, "run"), Dir: home}
}
