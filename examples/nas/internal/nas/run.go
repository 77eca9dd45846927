// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"fmt"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/shmem"
)

// A Kernel solves a problem on all PEs and returns the same report, or an
// error, on each of them.
type Kernel func(pe *shmem.PE, opt Options) (Report, error)

// Main runs a kernel as a command of this name. Its inner loops are in Go, and
// in the other forms too if it has any.
func Main(name string, kernel Kernel, forms ...Form) {
	command.Main(func(pe *shmem.PE, args []string, out io.Writer) error {
		return Run(pe, name, kernel, args, out, forms...)
	})
}

// Run runs a kernel as args say and writes its report to out. It fails on PE 0
// if the verification did.
func Run(pe *shmem.PE, name string, kernel Kernel, args []string, out io.Writer, forms ...Form) error {
	opt, err := ParseOptions(name, args, out, forms...)
	if err != nil {
		return err
	}
	report, err := kernel(pe, opt)
	if err != nil {
		return err
	}
	if pe.MyPE() != 0 {
		return nil
	}
	report.stamp(name, opt, pe.NPEs())
	write := report.Write
	if opt.JSON {
		write = report.WriteJSON
	}
	if err := write(out); err != nil {
		return err
	}
	if report.Verification == Unsuccessful {
		return fmt.Errorf("%s class %s: verification failed", name, opt.Class)
	}
	return nil
}
