// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package joint_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/joint"
	"github.com/goshmem/goshmem/fabric/ofi"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/segment"
)

// poor is a near domain on a machine that has no memory left for its segments.
type poor struct{ *shm.Domain }

var errPoor = errors.New("there is none left")

func (poor) Affords(uintptr) error { return errPoor }
func (poor) AffordsAll() error     { return errPoor }

// TestAffords_AsksOnceWhereMemoryStays: for all of a segment that stays as it is, when it is
// registered, and for the rest as it is allocated.
func TestAffords_AsksOnceWhereMemoryStays(t *testing.T) {
	const size = 1 << 20
	for _, stays := range []bool{false, true} {
		file, err := segment.CreateFile(segment.Layout{PEs: 1, NPEs: 1, Size: size, Cores: 1})
		require.NoError(t, err)
		near, err := shm.New(file).Open(fabric.Job{NPEs: 1})
		require.NoError(t, err)
		require.NoError(t, file.Close())
		far, err := ofi.New(ofi.Options{Allocated: stays}).Open(fabric.Job{NPEs: 1, SegmentSize: size})
		require.NoError(t, err)
		d, err := joint.New(poor{near.(*shm.Domain)}, far.(fabric.Driver), joint.Options{})
		require.NoError(t, err)
		_, err = d.Register(d.Map(0))
		if stays {
			require.ErrorIs(t, err, errPoor)
			require.NoError(t, d.Affords(size), "memory that the segment has")
		} else {
			require.NoError(t, err)
			require.ErrorIs(t, d.Affords(size), errPoor)
		}
		require.NoError(t, d.Close())
	}
}
