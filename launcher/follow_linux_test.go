// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// followed returns the events of a process that is killed at once, and the end
// of its link that others may hold.
func followed(t *testing.T) (events <-chan event, link *os.File) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	from, link, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { link.Close() })
	r := &run{events: make(chan event)}
	n := &node{pid: cmd.Process.Pid}
	n.kill()
	go r.follow(n, from)
	return r.events, link
}

// What a process has sent comes before the news that another one holds the link
// after its end, however late it is read.
func TestFollow_FramesComeBeforeTheLinkIsHeld(t *testing.T) {
	events, link := followed(t)
	for range 20 {
		_, err := link.Write(frame{kind: frameOutput, data: make([]byte, 1000)}.append(nil))
		require.NoError(t, err)
	}
	_, err := link.Write(frame{kind: frameBye}.append(nil))
	require.NoError(t, err)
	<-time.NewTimer(3 * settleWait).C // a launcher that is busy
	for range 20 {
		require.Equal(t, frameOutput, (<-events).kind)
	}
	require.Equal(t, frameBye, (<-events).kind)
	e := <-events
	require.NotNil(t, e.end)
	require.True(t, e.end.open)

	// It may still be used.
	_, err = link.Write(frame{kind: frameNotice}.append(nil))
	require.NoError(t, err)
	require.Equal(t, frameNotice, (<-events).kind)
	link.Close()
	e = <-events
	require.NotNil(t, e.end)
	require.False(t, e.end.open)
	require.NoError(t, e.end.err)
}

func TestFollow_KilledAmidAFrame(t *testing.T) {
	whole := frame{kind: frameOutput, data: []byte("text")}.append(nil)
	for n := range whole {
		events, link := followed(t)
		_, err := link.Write(whole[:n])
		require.NoError(t, err)
		link.Close()
		e := <-events
		require.NotNil(t, e.end)
		require.NoError(t, e.end.err, "after %d bytes", n)
		require.True(t, e.end.status.Signaled())
	}
}
