// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// uses looks for places in f that change a package-level variable, or hand a
// slice or map out to where it could be changed.
func (c *stateCheck) uses(f *file, info *types.Info) {
	changed := func(e ast.Expr, how string) {
		if v := c.lookup(e, info); v != nil && v.changed == "" {
			v.changed = fmt.Sprintf("%s at %s:%d", how, f.path, c.tree.fset.Position(e.Pos()).Line)
		}
	}
	var stack []ast.Node // from the file down to the parent of n
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					changed(left, "is assigned to")
				}
			}
		case *ast.IncDecStmt:
			changed(n.X, "is assigned to")
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				changed(n.Key, "is assigned to")
				changed(n.Value, "is assigned to")
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				changed(n.X, "has its address taken")
			}
		case *ast.SelectorExpr:
			if s := info.Selections[n]; s != nil && addresses(s) {
				changed(n.X, "has its address taken by method "+n.Sel.Name)
			}
		case *ast.SliceExpr:
			if isArray(info.Types[n.X].Type) && !readInPlace(n, stack, info) {
				changed(n.X, "is sliced and handed out")
			}
		case *ast.Ident:
			v := c.object(info.Uses[n])
			if v != nil && v.shared && !f.isTest() && !readInPlace(n, stack, info) {
				changed(n, "is handed out")
			}
		}
		stack = append(stack, n)
		return true
	})
}

// addresses reports whether selecting a method takes the address of what it is
// selected from.
func addresses(s *types.Selection) bool {
	if s.Kind() != types.MethodVal {
		return false
	}
	if _, isPointer := s.Recv().Underlying().(*types.Pointer); isPointer {
		return false
	}
	recv := s.Obj().(*types.Func).Signature().Recv()
	_, isPointer := recv.Type().Underlying().(*types.Pointer)
	return isPointer
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// writers are the standard library's functions, by the start of their names,
// that write to a slice or map that they are given, or keep it.
var writers = [...]string{
	"append", "copy", "clear", "delete",
	"slices.Sort", "slices.Reverse", "slices.Delete", "slices.Insert", "slices.Replace",
	"slices.Compact", "slices.Grow", "slices.Clip",
	"maps.Copy", "maps.Delete", "maps.Insert",
	"sort.", "rand.Read", "rand.Shuffle", "io.Read", "binary.Put",
}

// readInPlace reports whether the use of a slice or map, n below stack, neither
// changes nor keeps it. Functions other than writers are taken to read what
// they are given.
func readInPlace(n ast.Expr, stack []ast.Node, info *types.Info) bool {
	i := len(stack) - 1
	parent := stack[i]
	if sel, ok := parent.(*ast.SelectorExpr); ok && sel.Sel == n { // pkg.X: n is X
		n, i = sel, i-1
		parent = stack[i]
	}
	switch p := parent.(type) {
	case *ast.IndexExpr: // x[i]; an assignment to it is found as such
		return p.X == n || p.Index == n
	case *ast.RangeStmt:
		return p.X == n
	case *ast.SelectorExpr: // x.Method(): a method of ours, to be read there
		return p.X == n
	case *ast.BinaryExpr: // x == nil
		return true
	case *ast.SliceExpr: // x[i:j] is in place if that is
		return p.X != n || !isArray(info.Types[n].Type) && readInPlace(p, stack[:i], info)
	case *ast.AssignStmt: // reported as an assignment if it is one
		return slices.Contains(p.Lhs, n)
	case *ast.CallExpr:
		return readBy(p, n, info)
	}
	return false
}

// readBy reports whether call only reads its argument arg. A conversion to
// another slice type does not: its result is the same slice.
func readBy(call *ast.CallExpr, arg ast.Expr, info *types.Info) bool {
	if info.Types[call.Fun].IsType() {
		t, _ := info.Types[call.Fun].Type.Underlying().(*types.Basic)
		return t != nil // string(x) copies
	}
	name := types.ExprString(unindexed(call.Fun))
	if (name == "append" || name == "copy") && call.Args[0] != arg {
		return true // they copy their second argument
	}
	return !slices.ContainsFunc(writers[:], func(w string) bool { return strings.HasPrefix(name, w) })
}
