// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// nodeCores returns the cores that this process may use, in order.
func nodeCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("cores of this process: %w", err)
	}
	cores := make([]int, 0, set.Count())
	for core := 0; len(cores) < cap(cores); core++ {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// coresOf returns the cores of the i-th of n PEs, or nil for all: blocks of
// neighbours if there are enough, else one core, used by several PEs.
func coresOf(cores []int, i, n int, b Binding) []int {
	switch {
	case b == BindNone, b == BindAuto && n > len(cores):
		return nil
	case n > len(cores):
		return cores[i%len(cores):][:1]
	default:
		return cores[i*len(cores)/n : (i+1)*len(cores)/n]
	}
}

// setCores binds the calling thread, and what it starts from now on.
func setCores(cores []int) error {
	var set unix.CPUSet
	for _, core := range cores {
		set.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind to cores %v: %w", cores, err)
	}
	return nil
}
