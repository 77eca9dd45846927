// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher/pmi"
)

// The bootstrap server calls these with its lock held, so none of them waits for
// the launcher to read.
func TestJoinRounds_DoesNotWaitForTheLauncher(t *testing.T) {
	r, w := io.Pipe()
	p := &proxy{job: nodeJob{Nodes: []int{1, 1}, NPEs: 2}, up: link{w: w}}
	var job pmi.Job
	p.joinRounds(&job)
	round := bytes.Repeat([]byte("x"), maxPart+1)
	job.Up(round)
	job.Finalized(1)
	job.Failed("because")

	for _, want := range []frame{
		{kind: frameRound, n: maxPart + 1, data: round[:maxPart]},
		{kind: frameRound, n: 1, data: round[:1]},
		{kind: frameFinalized, pe: 1},
		{kind: frameRoundFailed, data: []byte("because")},
	} {
		got, err := readFrame(r)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	<-p.rounds.flushed()
}
