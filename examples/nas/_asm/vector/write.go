// SPDX-License-Identifier: BSD-3-Clause

package vector

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

const licence = "// SPDX-License-Identifier: BSD-3-Clause\n\n"

// Main is a generator's main function: it writes what generate asks for to
// name_amd64.s, and its declarations in Go to name_amd64.go, both in the folder
// that is its argument. They are not for the build tag purego.
func Main(name string, generate func(ctx *build.Context)) {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run generator folder")
	}
	ctx := build.NewContext()
	ctx.ConstraintExpr("!purego")
	generate(ctx)
	file, err := ctx.Result()
	if err != nil {
		log.Fatal(err)
	}
	if err := pass.Compile.Execute(file); err != nil {
		log.Fatal(err)
	}
	if err := checkRegisters(file); err != nil {
		log.Fatal(err)
	}
	config := printer.Config{Name: "go generate", Argv: []string{"go", "generate"}, Pkg: "main"}
	for ending, p := range map[string]printer.Printer{
		"_amd64.s":  printer.NewGoAsm(config),
		"_amd64.go": printer.NewStubs(config),
	} {
		text, err := p.Print(file)
		if err != nil {
			log.Fatal(err)
		}
		path := filepath.Join(os.Args[1], name+ending)
		if err := os.WriteFile(path, append([]byte(licence), text...), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// checkRegisters fails if a function of AVX2's has registers that only AVX-512
// has. avo takes them where the others do not suffice.
func checkRegisters(file *ir.File) error {
	for _, f := range file.Functions() {
		if !strings.HasSuffix(f.Name, avx2) {
			continue
		}
		for _, i := range f.Instructions() {
			for _, r := range i.Registers() {
				if p := reg.ToPhysical(r); p != nil && p.Kind() == reg.KindVector && p.PhysicalIndex() >= 16 {
					return fmt.Errorf("%s has %s, which is a register of AVX-512", f.Name, r.Asm())
				}
			}
		}
	}
	return nil
}
