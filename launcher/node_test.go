// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/segment"
)

func TestBaseEnv_DropsOtherJobs(t *testing.T) {
	env := []string{"PATH=/bin", "GORUN_JOB_PE=3", "GORUN_JOB_SECRET_FD=3", "GORUN_NP=4", "PMI_FD=5", "PMI_RANK=1", "PMIX_RANK=1", "X=PMI_FD=1"}
	require.Equal(t, []string{"PATH=/bin", "GORUN_NP=4", "PMIX_RANK=1", "X=PMI_FD=1"}, baseEnv(env))
}

func TestWithGOMAXPROCS(t *testing.T) {
	tests := []struct {
		env        []string
		cores, pes int
		want       string
	}{
		{[]string{"A=1"}, 8, 1, "GOMAXPROCS=8"},
		{[]string{"A=1"}, 8, 3, "GOMAXPROCS=2"},
		{[]string{"A=1"}, 2, 64, "GOMAXPROCS=1"},
		{[]string{"A=1", "GOMAXPROCS=5"}, 2, 64, "GOMAXPROCS=5"},
	}
	for _, test := range tests {
		got := withGOMAXPROCS(test.env, test.cores, test.pes)
		require.Equal(t, []string{"A=1", test.want}, got)
	}
}

func TestNodeJob_Layout(t *testing.T) {
	j := nodeJob{PEs: 3, NPEs: 3, Heap: 1 << 20}
	l, err := j.layout(2)
	require.NoError(t, err)
	require.Equal(t, segment.Layout{PEs: 3, NPEs: 3, Size: segment.SizeForHeap(1 << 20), Cores: 2}, l)

	for _, heap := range []uint64{MaxHeap + 1, 1 << 63, 1<<64 - 1} {
		j.Heap = heap
		_, err = j.layout(2)
		require.ErrorContains(t, err, "symmetric heap", "%d bytes", heap)
	}
	j.Heap = MaxHeap
	_, err = j.layout(2)
	require.NoError(t, err)
}
