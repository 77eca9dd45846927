// SPDX-License-Identifier: BSD-3-Clause

package tests

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// checkGate wants .ci/run to install the Debian packages whose tools the tests
// ask internal/testenv for, where they fail without. Go is there before.
func (t *tree) checkGate() []problem {
	var installed []string
	for _, f := range t.files {
		if f.path != ".ci/run" {
			continue
		}
		for line := range strings.Lines(string(f.source)) {
			if list, ok := strings.CutPrefix(strings.TrimSpace(line), "packages=("); ok {
				installed = strings.Fields(strings.TrimSuffix(list, ")"))
			}
		}
	}
	var found []problem
	for _, f := range t.files {
		if f.syntax == nil || within(f.dir(), "internal/testenv") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNeedTool(call.Fun) || len(call.Args) != 3 {
				return true
			}
			lit, ok := call.Args[2].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			name, err := strconv.Unquote(lit.Value)
			if err == nil && name != "golang-go" && !slices.Contains(installed, name) {
				found = append(found, t.at(f, call.Pos(), ".ci/run does not install the Debian package %s", name))
			}
			return true
		})
	}
	return found
}

func isNeedTool(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "NeedTool"
}

func gateFixtures() []fixture {
	test := "func f(t T) {\n\ttestenv.NeedTool(t, \"cc\", \"gcc\")\n\ttestenv.NeedTool(t, \"go\", \"golang-go\")\n}\n"
	script := "#!/bin/bash\n# SPDX-License-Identifier: BSD-3-Clause\npackages=("
	return []fixture{
		{
			name:  "the gate installs what tests need",
			files: map[string]string{"shmem/x_test.go": test, ".ci/run": script + "mpich gcc)\n"},
		},
		{
			name:  "the gate installs too little",
			files: map[string]string{"shmem/x_test.go": test, ".ci/run": script + "mpich gcc-12)\n"},
			want:  []string{"shmem/x_test.go:6: .ci/run does not install the Debian package gcc"},
		},
	}
}
