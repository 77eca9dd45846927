// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsDown(t *testing.T) {
	_, gone := net.InterfaceByIndex(math.MaxInt32)
	require.Error(t, gone)
	refused := &net.OpError{Op: "route", Net: "ip+net", Err: os.NewSyscallError("netlinkrib", syscall.EMFILE)}
	tests := map[string]struct {
		flags net.Flags
		err   error
		want  bool
	}{
		"up":       {net.FlagUp | net.FlagRunning, nil, false},
		"set down": {0, nil, true},
		"no link":  {net.FlagUp, nil, true},
		"gone":     {0, gone, true},
		"refused":  {0, refused, false},
	}
	for name, test := range tests {
		require.Equal(t, test.want, isDown(&net.Interface{Flags: test.flags}, test.err), name)
	}
}

// The end of a node's PEs is not yet that of the node.
func TestRun_ANodeIsMissedUntilItsBye(t *testing.T) {
	for _, bye := range []bool{true, false} {
		r := &run{nodes: newNodes(&Job{Hosts: []Host{{"a", 1}, {"b", 1}}}), vigil: newVigil(2)}
		r.judge = newJudge(func(int) string { return "" })
		b := r.nodes[1]
		b.down.w = io.Discard
		b.bye = bye
		r.handle(r.nodes[0], frame{kind: frameLate, data: []byte(`{"Late":[{"Node":1,"Age":3000000000}]}`)})
		if bye {
			require.Nil(t, r.judge.verdict)
		} else {
			require.Equal(t, StatusLostNode, r.judge.verdict.status)
		}
	}
}
