// SPDX-License-Identifier: BSD-3-Clause

package fabric

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	for _, blobs := range [][][]byte{
		nil,
		{nil},
		{nil, nil, nil},
		{[]byte("one"), nil, []byte("a longer one"), {0, 0}},
		{bytes.Repeat([]byte{7}, math.MaxUint16)},
	} {
		table := NewTable(blobs)
		for _, table := range []Table{table, table.On(append(bytes.Clone(table.Bytes()), "what follows"...))} {
			require.Equal(t, len(blobs), table.NPEs())
			for pe, want := range blobs {
				require.True(t, bytes.Equal(want, table.Blob(pe)))
			}
		}
	}
	require.Zero(t, Table{}.NPEs())
	require.Panics(t, func() { NewTable([][]byte{make([]byte, math.MaxUint16+1)}) })
}
