// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// allowedState names the package-level variables that hold state, as
// "folder.name", each with the reason why it has to.
var allowedState = map[string]string{
	"shmem.process": "a process is one PE, however many of its libraries call Init",
}

// checkState finds package-level variables that can change. A variable is fine
// if nothing in the module assigns to it or to a part of it, takes its address,
// or calls a method on it that could; and if its type leaves nobody else a way:
// values are fine, slices and maps are if they are only read in place or by a
// function they are passed to, and what can be changed through a copy (pointers, channels, interfaces, anything of
// package sync) only as the result of a constructor known to return a constant.
// Variables of tests are not looked at, but what tests do to the others is.
func (t *tree) checkState(allowed map[string]string) []problem {
	c := stateCheck{tree: t, vars: map[string]*stateVar{}}
	checked := newChecker(t)
	dirs := t.packages()
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		for _, u := range checked.units(dir, dirs[dir]) {
			c.declare(dir, u)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		for _, u := range checked.units(dir, dirs[dir]) {
			for _, f := range u.files {
				c.uses(f, u.info)
			}
		}
	}
	var found []problem
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.vars)) {
		v := c.vars[name]
		why := cmp.Or(v.changed, v.why)
		if why == "" {
			continue
		}
		if _, ok := allowed[name]; ok {
			used[name] = true
			continue
		}
		found = append(found, t.at(v.file, v.pos, "package-level variable %s %s", v.name, why))
	}
	for name := range allowed {
		if !used[name] {
			found = append(found, problem{"tests/arch_state_test.go", 0, "allowedState names " + name + ", which is no state"})
		}
	}
	return found
}

// A stateVar is a package-level variable outside tests.
type stateVar struct {
	name    string
	file    *file
	pos     token.Pos
	shared  bool   // a slice or map: whoever gets hold of it can change it
	why     string // why its type or initial value makes it state
	changed string // where it is changed or handed out
}

type stateCheck struct {
	tree *tree
	vars map[string]*stateVar // by "folder.name"
}

// declare notes the variables that a unit declares outside tests.
func (c *stateCheck) declare(dir string, u unit) {
	for _, f := range u.files {
		if f.isTest() {
			continue
		}
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				vs := spec.(*ast.ValueSpec)
				for i, name := range vs.Names {
					if name.Name == "_" {
						continue
					}
					var init ast.Expr
					if i < len(vs.Values) {
						init = vs.Values[i]
					}
					v := &stateVar{name: name.Name, file: f, pos: name.Pos()}
					if !embedded(gen, vs) {
						v.shared, v.why = classify(name, init, u.info)
					}
					c.vars[dir+"."+name.Name] = v
				}
			}
		}
	}
}

// embedded reports whether a declaration has a go:embed directive.
func embedded(gen *ast.GenDecl, vs *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{gen.Doc, vs.Doc} {
		if doc == nil {
			continue
		}
		for _, line := range doc.List {
			if strings.HasPrefix(line.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

// constants are functions whose result nobody can change.
var constants = [...]string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer",
	"reflect.TypeFor", "sync.OnceValue", "sync.OnceValues",
}

// classify says whether a variable's value is shared by reference, and why it
// is state, if it is whatever is done with it.
func classify(name *ast.Ident, init ast.Expr, info *types.Info) (shared bool, why string) {
	if call, ok := init.(*ast.CallExpr); ok {
		if slices.Contains(constants[:], types.ExprString(unindexed(call.Fun))) {
			return false, ""
		}
	}
	obj := info.Defs[name]
	if obj == nil || obj.Type() == nil {
		return false, "has a type that this check cannot see"
	}
	typ := obj.Type()
	if _, isInterface := typ.Underlying().(*types.Interface); isInterface && init != nil {
		if lit, ok := init.(*ast.CompositeLit); ok && info.Types[lit].Type != nil {
			typ = info.Types[lit].Type // an error of a type of its own, say
		}
	}
	switch typ.Underlying().(type) {
	case *types.Slice, *types.Map:
		shared = true
	}
	return shared, mutable(typ, map[types.Type]bool{})
}

// unindexed strips the type arguments of a generic function.
func unindexed(fun ast.Expr) ast.Expr {
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return f.X
	case *ast.IndexListExpr:
		return f.X
	}
	return fun
}

// mutable says what in a type is state by itself: "holds sync.Mutex".
func mutable(typ types.Type, seen map[types.Type]bool) string {
	if seen[typ] {
		return ""
	}
	seen[typ] = true
	switch name := types.TypeString(typ, (*types.Package).Path); {
	case strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "sync/atomic."):
		return "holds " + types.TypeString(typ, (*types.Package).Name)
	case name == "error" || name == "os.Signal" || name == "reflect.Type":
		return "" // interfaces whose values are constants by custom
	}
	switch u := typ.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Invalid {
			return "has a type that this check cannot see"
		}
		return ""
	case *types.Array:
		return mutable(u.Elem(), seen)
	case *types.Slice:
		return mutable(u.Elem(), seen)
	case *types.Map:
		return cmp.Or(mutable(u.Key(), seen), mutable(u.Elem(), seen))
	case *types.Struct:
		for field := range u.Fields() {
			if why := mutable(field.Type(), seen); why != "" {
				return why
			}
		}
		return ""
	case *types.Signature:
		return ""
	case *types.Pointer:
		return "holds a pointer"
	case *types.Chan:
		return "holds a channel"
	default:
		return fmt.Sprintf("holds interface %s, which may hide state", types.TypeString(typ, (*types.Package).Name))
	}
}

// lookup returns the variable that an expression or a part of it names, nil
// if it names none: x, x.f, x[i].f, pkg.X[i].
func (c *stateCheck) lookup(e ast.Expr, info *types.Info) *stateVar {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return c.object(info.Uses[x])
		case *ast.SelectorExpr:
			if v := c.object(info.Uses[x.Sel]); v != nil {
				return v
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func (c *stateCheck) object(obj types.Object) *stateVar {
	v, ok := obj.(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	dir, ours := strings.CutPrefix(v.Pkg().Path(), module+"/")
	if !ours {
		return nil
	}
	return c.vars[dir+"."+v.Name()]
}

func stateFixtures() []fixture {
	const where = "package-level variable "
	return []fixture{
		{
			name: "what cannot change",
			files: map[string]string{"fabric/x.go": `
import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	ErrEnd      = errors.New("the end")
	names       = [...]string{"min", "max"}
	signs       = []string{"==", "!="}
	byName      = map[string]op{"sum": 1}
	rows        = []struct{ name string; ok func(op) bool }{{"sum", op.known}}
	pattern     = regexp.MustCompile("^a")
	table       = sync.OnceValue(func() [4]int { return [4]int{1, 2, 3, 4} })
	squares     = compute()
	limit       = 1 << 20
	lost  error = lostError{pe: 3}
	_           = byName["max"]
	signals     = []os.Signal{os.Interrupt}
)

type op uint8

func (o op) known() bool { return int(o) < len(names) }

type lostError struct{ pe int }

func (lostError) Error() string { return "lost" }

func compute() (s [8]int) {
	for i := range s {
		s[i] = i * i
	}
	return s
}

func f(signs2 []string, names string) (string, error) {
	names = "local"
	signs2[0] = signs[1]
	for _, r := range rows {
		if r.ok(byName[r.name]) && slices.Contains(signs, names) && slices.Contains(words[:], names) {
			names += strings.Join(signs, " ")
		}
	}
	squares := squares
	squares[0]++
	return names, errors.Join(ErrEnd, lost)
}
`, "fabric/y.go": "var words = [2]string{}\n", "fabric/doc.go": "", "fabric/x_test.go": "var hits int\n\nfunc g() {\n\thits++\n}\n"},
		},
		{
			name: "assignments of every kind",
			files: map[string]string{
				"fabric/doc.go": "",
				"fabric/x.go":   "var a, b, c, d, e int\nvar f = [2]int{}\nvar g = map[int]int{}\nvar h struct{ i struct{ j int } }\nvar k = []int{1}\nvar l int\n",
				"fabric/y.go": `
func change() {
	a = 1
	b += 1
	c++
	for d = range 3 {
	}
	_, e = 1, 2
	f[0] = 1
	g[1] = 2
	h.i.j = 3
	k[0]--
	_ = func() { l = 1 }
}
`,
			},
			want: []string{
				"fabric/x.go:4: " + where + "a is assigned to at fabric/y.go:6",
				"fabric/x.go:4: " + where + "b is assigned to at fabric/y.go:7",
				"fabric/x.go:4: " + where + "c is assigned to at fabric/y.go:8",
				"fabric/x.go:4: " + where + "d is assigned to at fabric/y.go:9",
				"fabric/x.go:4: " + where + "e is assigned to at fabric/y.go:11",
				"fabric/x.go:5: " + where + "f is assigned to at fabric/y.go:12",
				"fabric/x.go:6: " + where + "g is assigned to at fabric/y.go:13",
				"fabric/x.go:7: " + where + "h is assigned to at fabric/y.go:14",
				"fabric/x.go:8: " + where + "k is assigned to at fabric/y.go:15",
				"fabric/x.go:9: " + where + "l is assigned to at fabric/y.go:16",
			},
		},
		{
			name: "addresses and aliases",
			files: map[string]string{
				"fabric/doc.go": "",
				"fabric/x.go":   "var a int\nvar b table\nvar c = []int{1}\nvar d = map[int]int{}\nvar e = [3]int{}\nvar f = []int{2}\nvar g = []int{3}\nvar h = []int{4}\n",
				"fabric/y.go": `
import "slices"

type table struct{ n int }

func (t *table) set(n int) { t.n = n }

func change() ([]int, map[int]int) {
	_ = &a
	b.set(1)
	slices.Sort(c)
	clear(d)
	x := e[1:]
	copy(f, x)
	y := append(g, 4)
	return h, nil
}
`,
			},
			want: []string{
				"fabric/x.go:10: " + where + "g is handed out at fabric/y.go:18",
				"fabric/x.go:11: " + where + "h is handed out at fabric/y.go:19",
				"fabric/x.go:4: " + where + "a has its address taken at fabric/y.go:12",
				"fabric/x.go:5: " + where + "b has its address taken by method set at fabric/y.go:13",
				"fabric/x.go:6: " + where + "c is handed out at fabric/y.go:14",
				"fabric/x.go:7: " + where + "d is handed out at fabric/y.go:15",
				"fabric/x.go:8: " + where + "e is sliced and handed out at fabric/y.go:16",
				"fabric/x.go:9: " + where + "f is handed out at fabric/y.go:17",
			},
		},
		{
			name: "types that are state by themselves",
			files: map[string]string{"fabric/shm/x.go": `
import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"golang.org/x/sys/unix"
)

var (
	a sync.Mutex
	b = struct{ n [2]atomic.Int64 }{}
	c = make(chan int)
	d *int
	e any = d
	f = os.Stdout
	g = map[string]*bytes.Buffer{}
	h = unix.Getrlimit()
)
`},
			want: []string{
				"fabric/shm/x.go:15: " + where + "a holds sync.Mutex",
				"fabric/shm/x.go:16: " + where + "b holds atomic.Int64",
				"fabric/shm/x.go:17: " + where + "c holds a channel",
				"fabric/shm/x.go:18: " + where + "d holds a pointer",
				"fabric/shm/x.go:19: " + where + "e holds interface any, which may hide state",
				"fabric/shm/x.go:20: " + where + "f holds a pointer",
				"fabric/shm/x.go:21: " + where + "g holds a pointer",
				"fabric/shm/x.go:22: " + where + "h has a type that this check cannot see",
			},
		},
		{
			name: "tests and other packages change it too",
			files: map[string]string{
				"fabric/x.go":      "var Hook func()\nvar Limit = 3\n",
				"fabric/x_test.go": "func set() { Hook = nil }\n",
				"fabric/doc.go":    "",
				"symheap/x.go":     "import \"" + module + "/fabric\"\n\nfunc set() { fabric.Limit = 4 }\n",
			},
			want: []string{
				"fabric/x.go:4: " + where + "Hook is assigned to at fabric/x_test.go:4",
				"fabric/x.go:5: " + where + "Limit is assigned to at symheap/x.go:7",
			},
		},
		{
			name: "build tags hide nothing, and a pair may declare the same name",
			files: map[string]string{
				"fabric/doc.go":   "",
				"fabric/x_on.go":  spdxLine + "\n//go:build race\n\npackage fabric\n\nvar n int\n\nfunc note() { n++ }\n",
				"fabric/x_off.go": spdxLine + "\n//go:build !race\n\npackage fabric\n\nvar m int\n\nfunc note() { m++ }\n",
			},
			want: []string{
				"fabric/x_off.go:7: " + where + "m is assigned to at fabric/x_off.go:9",
				"fabric/x_on.go:7: " + where + "n is assigned to at fabric/x_on.go:9",
			},
		},
		{
			name:  "state with a reason, and a reason without state",
			files: map[string]string{"shmem/x.go": "var job int\n\nfunc set() { job = 1 }\n"},
			state: map[string]string{"shmem.job": "a process is one PE", "shmem.gone": "was needed once"},
			want:  []string{"tests/arch_state_test.go: allowedState names shmem.gone, which is no state"},
		},
	}
}
