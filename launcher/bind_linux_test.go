// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoresOf(t *testing.T) {
	cores := []int{0, 2, 4, 6, 7} // of a cpuset
	tests := []struct {
		n    int
		bind Binding
		want [][]int
	}{
		{1, BindAuto, [][]int{{0, 2, 4, 6, 7}}},
		{2, BindAuto, [][]int{{0, 2}, {4, 6, 7}}},
		{5, BindAuto, [][]int{{0}, {2}, {4}, {6}, {7}}},
		{5, BindCore, [][]int{{0}, {2}, {4}, {6}, {7}}},
		{5, BindNone, [][]int{nil, nil, nil, nil, nil}},
		{7, BindAuto, [][]int{nil, nil, nil, nil, nil, nil, nil}},
		{7, BindCore, [][]int{{0}, {2}, {4}, {6}, {7}, {0}, {2}}},
	}
	for _, test := range tests {
		var got [][]int
		for i := range test.n {
			got = append(got, coresOf(cores, i, test.n, test.bind))
		}
		require.Equal(t, test.want, got, "%d PEs, binding %d", test.n, test.bind)
	}
}

func TestNodeCores(t *testing.T) {
	cores, err := nodeCores()
	require.NoError(t, err)
	require.NotEmpty(t, cores)
	require.IsIncreasing(t, append([]int{-1}, cores...))
}
