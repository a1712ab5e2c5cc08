package requests_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/handoff"
	launcher "github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/programs"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/strandtest"
)

type parts = coll.Passer[[]byte]

// withNilContext is every call of the public packages that takes a context, with none.
func withNilContext() map[string]func() {
	var none context.Context
	var r strand.Request
	c, g, job := new(strand.Comm), new(strand.Cart), new(strandtest.Job)
	p, m, q := new(pml.Context), new(pml.Message), new(strand.Message)
	var operation pml.Request
	sum := strand.Sum[int]()
	return map[string]func(){
		"Run":              func() { _ = strand.Run(none, nil) },
		"Init":             func() { _, _ = strand.Init(none) },
		"WaitAll":          func() { _ = strand.WaitAll(none, nil, nil) },
		"WaitAny":          func() { _, _, _ = strand.WaitAny(none, nil) },
		"WaitSome":         func() { _, _ = strand.WaitSome(none, nil, nil) },
		"Send":             func() { _ = strand.Send[byte](none, c, nil, 0, 0) },
		"Ssend":            func() { _ = strand.Ssend[byte](none, c, nil, 0, 0) },
		"Bsend":            func() { _ = strand.Bsend[byte](none, c, nil, 0, 0) },
		"Rsend":            func() { _ = strand.Rsend[byte](none, c, nil, 0, 0) },
		"Recv":             func() { _, _, _ = strand.Recv[byte](none, c, nil, 0, 0) },
		"Sendrecv":         func() { _, _, _ = strand.Sendrecv[byte, byte](none, c, nil, 0, 0, nil, 0, 0) },
		"RecvMatched":      func() { _, _, _ = strand.RecvMatched[byte](none, nil, nil) },
		"Message.Recv":     func() { _, _ = q.Recv(none, nil) },
		"Message.RecvV":    func() { _, _ = q.RecvV(none, nil) },
		"Request.Wait":     func() { _, _ = r.Wait(none) },
		"Comm.Send":        func() { _ = c.Send(none, nil, strand.ProcNull, 0) },
		"Comm.Ssend":       func() { _ = c.Ssend(none, nil, 0, 0) },
		"Comm.Bsend":       func() { _ = c.Bsend(none, nil, 0, 0) },
		"Comm.Rsend":       func() { _ = c.Rsend(none, nil, 0, 0) },
		"Comm.SendV":       func() { _ = c.SendV(none, nil, 0, 0) },
		"Comm.Recv":        func() { _, _ = c.Recv(none, nil, strand.ProcNull, 0) },
		"Comm.RecvV":       func() { _, _ = c.RecvV(none, nil, 0, 0) },
		"Comm.Sendrecv":    func() { _, _ = c.Sendrecv(none, nil, 0, 0, nil, 0, 0) },
		"SendrecvReplace":  func() { _, _, _ = strand.SendrecvReplace[byte](none, c, nil, 0, 0, 0, 0) },
		"Comm.Probe":       func() { _, _ = c.Probe(none, strand.ProcNull, 0) },
		"Comm.Mprobe":      func() { _, _ = c.Mprobe(none, strand.ProcNull, 0) },
		"Comm.Barrier":     func() { _ = c.Barrier(none) },
		"Comm.Dup":         func() { _, _ = c.Dup(none) },
		"Comm.DupWith":     func() { _, _ = c.DupWith(none, strand.Strict) },
		"Comm.Split":       func() { _, _ = c.Split(none, -5, 0) },
		"Comm.Agree":       func() { _, _ = c.Agree(none, 0) },
		"Comm.Shrink":      func() { _, _ = c.Shrink(none) },
		"Comm.SplitShared": func() { _, _ = c.SplitShared(none, 0) },

		"Comm.SendrecvReplace":    func() { _, _ = c.SendrecvReplace(none, nil, 0, 0, 0, 0) },
		"Comm.Create":             func() { _, _ = c.Create(none, nil) },
		"Comm.Cart":               func() { _, _ = c.Cart(none, nil, nil) },
		"Cart.Sub":                func() { _, _ = g.Sub(none, nil) },
		"Cart.NeighborAllgather":  func() { _ = g.NeighborAllgather(none, nil, nil) },
		"Cart.NeighborAlltoall":   func() { _ = g.NeighborAlltoall(none, nil, nil) },
		"Cart.NeighborAllgatherv": func() { _ = g.NeighborAllgatherv(none, nil, nil) },
		"Cart.NeighborAlltoallv":  func() { _ = g.NeighborAlltoallv(none, nil, nil) },
		"NeighborAllgatherv":      func() { _ = strand.NeighborAllgatherv[byte](none, g, nil, nil) },
		"NeighborAlltoallv":       func() { _ = strand.NeighborAlltoallv[byte](none, g, nil, nil) },
		"NeighborAllgather":       func() { _ = strand.NeighborAllgather[byte](none, g, nil, nil) },
		"NeighborAlltoall":        func() { _ = strand.NeighborAlltoall[byte](none, g, nil, nil) },

		"Comm.SendView":             func() { _ = c.SendView(none, strand.View{}, strand.ProcNull, 0) },
		"Comm.SsendView":            func() { _ = c.SsendView(none, strand.View{}, 0, 0) },
		"Comm.BsendView":            func() { _ = c.BsendView(none, strand.View{}, 0, 0) },
		"Comm.RsendView":            func() { _ = c.RsendView(none, strand.View{}, 0, 0) },
		"Comm.RecvView":             func() { _, _ = c.RecvView(none, strand.View{}, strand.ProcNull, 0) },
		"Comm.SendrecvReplaceView":  func() { _, _ = c.SendrecvReplaceView(none, strand.View{}, 0, 0, 0, 0) },
		"Comm.SendrecvView":         func() { _, _ = c.SendrecvView(none, strand.View{}, 0, 0, strand.View{}, 0, 0) },
		"Message.RecvView":          func() { _, _ = q.RecvView(none, strand.View{}) },
		"Comm.BcastView":            func() { _ = c.BcastView(none, strand.View{}, 0) },
		"Comm.GatherView":           func() { _ = c.GatherView(none, strand.View{}, nil, 0) },
		"Comm.ScatterView":          func() { _ = c.ScatterView(none, nil, strand.View{}, 0) },
		"Comm.AllgatherView":        func() { _ = c.AllgatherView(none, strand.View{}, nil) },
		"Comm.AlltoallView":         func() { _ = c.AlltoallView(none, nil, nil) },
		"Cart.NeighborAlltoallView": func() { _ = g.NeighborAlltoallView(none, nil, nil) },

		"Comm.Bcast":         func() { _ = c.Bcast(none, nil, 0) },
		"Comm.Gather":        func() { _ = c.Gather(none, nil, nil, 0) },
		"Comm.Gatherv":       func() { _ = c.Gatherv(none, nil, nil, 0) },
		"Comm.Scatter":       func() { _ = c.Scatter(none, nil, nil, 0) },
		"Comm.Scatterv":      func() { _ = c.Scatterv(none, nil, nil, 0) },
		"Comm.Allgather":     func() { _ = c.Allgather(none, nil, nil) },
		"Comm.Allgatherv":    func() { _ = c.Allgatherv(none, nil, nil) },
		"Comm.Alltoall":      func() { _ = c.Alltoall(none, nil, nil) },
		"Comm.Alltoallv":     func() { _ = c.Alltoallv(none, nil, nil) },
		"Bcast":              func() { _ = strand.Bcast[byte](none, c, nil, 0) },
		"Gather":             func() { _ = strand.Gather[byte](none, c, nil, nil, 0) },
		"Scatter":            func() { _ = strand.Scatter[byte](none, c, nil, nil, 0) },
		"Allgather":          func() { _ = strand.Allgather[byte](none, c, nil, nil) },
		"Alltoall":           func() { _ = strand.Alltoall[byte](none, c, nil, nil) },
		"Gatherv":            func() { _ = strand.Gatherv[byte](none, c, nil, nil, 0) },
		"Scatterv":           func() { _ = strand.Scatterv[byte](none, c, nil, nil, 0) },
		"Allgatherv":         func() { _ = strand.Allgatherv[byte](none, c, nil, nil) },
		"Alltoallv":          func() { _ = strand.Alltoallv[byte](none, c, nil, nil) },
		"Reduce":             func() { _ = strand.Reduce(none, c, sum, nil, nil, 0) },
		"Allreduce":          func() { _ = strand.Allreduce(none, c, sum, nil, nil) },
		"Scan":               func() { _ = strand.Scan(none, c, sum, nil, nil) },
		"Exscan":             func() { _ = strand.Exscan(none, c, sum, nil, nil) },
		"ReduceScatter":      func() { _ = strand.ReduceScatter(none, c, sum, nil, nil, nil) },
		"ReduceScatterBlock": func() { _ = strand.ReduceScatterBlock(none, c, sum, nil, nil) },

		"coll.Barrier":        func() { _ = coll.Barrier(none, nil, nil) },
		"coll.Bcast":          func() { _ = coll.Bcast(none, nil, nil, nil, 0) },
		"coll.Reduce":         func() { _ = coll.Reduce(none, nil, nil, coll.Op{}, nil, nil, 0) },
		"coll.Allreduce":      func() { _ = coll.Allreduce(none, nil, nil, coll.Op{}, nil, nil) },
		"coll.Gather":         func() { _ = coll.Gather(none, nil, nil, nil, nil, 0) },
		"coll.Gatherv":        func() { _ = coll.Gatherv(none, nil, nil, nil, 0) },
		"coll.Scatter":        func() { _ = coll.Scatter(none, nil, nil, nil, nil, 0) },
		"coll.Scatterv":       func() { _ = coll.Scatterv(none, nil, nil, nil, 0) },
		"coll.Allgather":      func() { _ = coll.Allgather(none, nil, nil, nil, nil) },
		"coll.Allgatherv":     func() { _ = coll.Allgatherv(none, nil, nil, nil) },
		"coll.Alltoall":       func() { _ = coll.Alltoall(none, nil, nil, nil, nil) },
		"coll.Alltoallv":      func() { _ = coll.Alltoallv(none, nil, nil, nil, nil) },
		"coll.GatherParts":    func() { _ = coll.GatherParts(none, parts(nil), nil, nil, 0) },
		"coll.ScatterParts":   func() { _ = coll.ScatterParts(none, parts(nil), nil, nil, 0) },
		"coll.AllgatherParts": func() { _ = coll.AllgatherParts(none, parts(nil), nil, nil) },
		"coll.AlltoallParts":  func() { _ = coll.AlltoallParts(none, parts(nil), nil, nil, nil) },
		"coll.Scan":           func() { _ = coll.Scan(none, nil, coll.Op{}, nil, nil) },
		"coll.Exscan":         func() { _ = coll.Exscan(none, nil, coll.Op{}, nil, nil) },
		"coll.ReduceScatter":  func() { _ = coll.ReduceScatter(none, nil, nil, coll.Op{}, nil, nil, nil) },

		"pml.Open":                  func() { _, _ = pml.Open(none, pml.Config{}) },
		"pml.PML.Close":             func() { _ = new(pml.PML).Close(none) },
		"pml.Context.Send":          func() { _ = p.Send(none, nil, nil, 0, 0, pml.Standard) },
		"pml.Context.Recv":          func() { _, _ = p.Recv(none, nil, nil, 0, 0) },
		"pml.Context.Probe":         func() { _, _ = p.Probe(none, 0, 0) },
		"pml.Context.Mprobe":        func() { _, _ = p.Mprobe(none, 0, 0) },
		"pml.Context.SendAs":        func() { _ = p.SendAs(none, nil, nil, 0, 0, pml.Standard) },
		"pml.Context.SendrecvShort": func() { _, _, _ = p.SendrecvShort(none, nil, 0, 0, pml.As{}, nil, 0, 0) },
		"pml.Context.RecvAs":        func() { _, _ = p.RecvAs(none, pml.As{}, nil, nil, 0, 0) },
		"pml.Message.Recv":          func() { _, _ = m.Recv(none, pml.As{}, nil, nil) },
		"pml.Request.Wait":          func() { _, _ = operation.Wait(none) },
		"pml.WaitAll":               func() { _, _ = pml.WaitAll(none, nil, nil) },
		"pml.WaitAllBeside":         func() { _, _ = pml.WaitAllBeside(none, nil, nil) },
		"pml.WaitAny":               func() { _, _, _ = pml.WaitAny(none, nil) },
		"pml.WaitSome":              func() { _, _ = pml.WaitSome(none, nil, nil) },
		"pml.Ended":                 func() { _ = pml.Ended(none) },

		"launch.FromEnvironment":    func() { _, _ = launch.FromEnvironment(none) },
		"internal/launcher/job.Run": func() { _ = launcher.Run(none, launcher.Config{}) },
		"strandtest.Job.Put":        func() { _ = job.Put(none, "", "") },
		"strandtest.Job.Get":        func() { _, _ = job.Get(none, "") },
		"strandtest.Job.Barrier":    func() { _ = job.Barrier(none) },

		"internal/test/programs.Session.Run":    func() { _, _ = new(programs.Session).Run(none) },
		"internal/test/programs.Session.Shrink": func() { _, _ = new(programs.Session).Shrink(none, 0) },
		"internal/test/programs.Part":           func() { _ = programs.Part(none, nil, 0) },
		"conformance.Check":                     func() { conformance.Check(none, nil) },

		"handoff.Group.Do":   func() { new(handoff.Group).Do(none, nil) },
		"handoff.Group.Read": func() { new(handoff.Group).Read(none, nil, 0, nil) },
		"handoff.Fetch":      func() { handoff.Fetch[int](none, nil, nil, nil, nil) },
	}
}

// A nil context panics at once and says so, whether or not the call would have to wait.
func TestNilContext(t *testing.T) {
	for name, call := range withNilContext() {
		assert.PanicsWithValue(t, "strand: the context is nil; context.Background() is one that never ends", call, name)
	}
}

// The test before has all calls that there are.
func TestNilContextEverywhere(t *testing.T) {
	const root = "../../../.."
	known := withNilContext()
	found := 0
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if n := d.Name(); n == "internal" || n == "cmd" || n == "tools" || n == "examples" || n == "testdata" || len(n) > 1 && n[0] == '.' {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && takesContext(f) {
				if name := publicName(filepath.Dir(path), f); name != "" {
					found++
					assert.Contains(t, known, name)
				}
			}
		}
		return nil
	}))
	require.Greater(t, found, 20, "most of them were looked at")
}

func takesContext(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "context" {
				return true
			}
		}
	}
	return false
}

// publicName is the name of a function or method with its package's directory, or nothing
// if others can not call it.
func publicName(dir string, f *ast.FuncDecl) string {
	name := f.Name.Name
	if f.Recv != nil {
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		receiver, ok := of.(*ast.Ident)
		if !ok || !receiver.IsExported() {
			return ""
		}
		name = receiver.Name + "." + name
	}
	if !f.Name.IsExported() {
		return ""
	}
	if dir == "." {
		return name
	}
	return filepath.ToSlash(dir) + "." + name
}
