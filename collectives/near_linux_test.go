// SPDX-License-Identifier: BSD-3-Clause

package collectives_test

import (
	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
)

// nearSettings run the algorithms for PEs that share memory.
func nearSettings() []setting {
	open := func(cores int) func(n int) ([]fabric.Domain, error) {
		return func(n int) ([]fabric.Domain, error) {
			file, err := segment.CreateFile(segment.Layout{PEs: n, NPEs: n, Size: segmentSize, Cores: cores})
			if err != nil {
				return nil, err
			}
			defer file.Close()
			ds := make([]fabric.Domain, n)
			for i := range ds {
				if ds[i], err = shm.New(file).Open(fabric.Job{PE: i, NPEs: n}); err != nil {
					return nil, err
				}
			}
			return ds, nil
		}
	}
	return []setting{{"near, flat", false, 0, open(64)}, {"near, central", true, 0, open(1)}}
}
