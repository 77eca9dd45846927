// SPDX-License-Identifier: BSD-3-Clause

package shm_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
)

// share has two PEs of a node share what each has and returns what they got.
func share(t *testing.T, data [2][]byte) (got [2][]byte, errs [2]error) {
	t.Helper()
	file, err := segment.CreateFile(segment.Layout{PEs: 2, NPEs: 2, Size: segment.SystemSize, Cores: 1})
	require.NoError(t, err)
	defer file.Close()
	written := make(chan struct{})
	var both errgroup.Group
	for pe := range data {
		d, err := shm.New(file).Open(fabric.Job{PE: pe, NPEs: 2})
		require.NoError(t, err)
		both.Go(func() error {
			got[pe], errs[pe] = d.(*shm.Domain).Share(data[pe], func() error {
				if pe == 0 {
					close(written)
				}
				<-written
				return nil
			})
			return d.Close()
		})
	}
	require.NoError(t, both.Wait())
	return got, errs
}

func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 100_000} {
		data := bytes.Repeat([]byte("x"), n)
		got, errs := share(t, [2][]byte{data, data})
		for pe := range got {
			require.NoError(t, errs[pe])
			require.True(t, bytes.Equal(data, got[pe]), "PE %d, %d bytes", pe, n)
		}
	}
	_, errs := share(t, [2][]byte{[]byte("one"), []byte("two")})
	require.ErrorContains(t, errs[1], "other bytes")
	_, errs = share(t, [2][]byte{[]byte("one"), bytes.Repeat([]byte("o"), 9000)})
	require.ErrorContains(t, errs[1], "has shared 3 bytes, this one has 9000")
}
