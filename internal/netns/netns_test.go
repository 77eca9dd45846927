// SPDX-License-Identifier: BSD-3-Clause

package netns

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// connects reports whether a connection from host h is answered by a host's
// kernel: nothing listens, so it is refused if it gets there, for which a busy
// machine may take a while.
func (h Host) connects(t *testing.T, to Host) bool {
	t.Helper()
	return h.connectsWithin(t, to, 10)
}

// silence is how many seconds without an answer show that none comes: many times what one takes here.
const silence = 2

func (h Host) connectsWithin(t *testing.T, to Host, seconds int) bool {
	t.Helper()
	out, err := h.Command("bash", "-c", fmt.Sprintf("timeout %d bash -c 'exec 3<>/dev/tcp/%s/9'", seconds, to.Addr)).CombinedOutput()
	require.Error(t, err)
	return strings.Contains(string(out), "refused")
}

func TestNew_HostsReachEachOtherUntilALinkIsCut(t *testing.T) {
	t.Parallel()
	net := New(t, 3)
	a, b, c := net.Hosts[0], net.Hosts[1], net.Hosts[2]
	for _, from := range net.Hosts {
		for _, to := range net.Hosts {
			require.True(t, from.connects(t, to), "%s → %s", from.Name, to.Name)
		}
	}
	b.Cut(t)
	require.False(t, a.connectsWithin(t, b, silence))
	require.True(t, a.connects(t, c))
	b.Mend(t)
	require.True(t, a.connects(t, b))
	b.Mute(t)
	require.False(t, a.connectsWithin(t, b, silence))
	require.True(t, b.connects(t, b))
}

func TestNew_NetsAreApart(t *testing.T) {
	t.Parallel()
	one, two := New(t, 2), New(t, 1)
	require.NotEqual(t, one.Hosts[0].Name, two.Hosts[0].Name)
	require.False(t, two.Hosts[0].connectsWithin(t, one.Hosts[1], silence))
}

func TestNet_AgentGivesEachItsOwnSharedMemory(t *testing.T) {
	t.Parallel()
	net := New(t, 2)
	for _, h := range net.Hosts {
		script := strings.ReplaceAll(net.Agent(), "{host}", h.Name) + ` sh -c 'ls -A /dev/shm; echo secret >/dev/shm/ours; cat /dev/shm/ours'`
		require.Equal(t, "secret\n", run(t, "sh", "-c", script))
		_, err := os.Stat("/dev/shm/ours")
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

func TestHost_Processes(t *testing.T) {
	t.Parallel()
	h := New(t, 1).Hosts[0]
	require.Empty(t, h.Processes(t))
	cmd := h.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte("x"))
	require.NoError(t, err)
	_, err = out.Read(make([]byte, 1)) // it runs
	require.NoError(t, err)
	require.Equal(t, []int{cmd.Process.Pid}, h.Processes(t))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

func TestNew_RemovesAll(t *testing.T) {
	t.Parallel()
	var names []string
	t.Run("a test", func(t *testing.T) {
		net := New(t, 2)
		names = []string{net.hub, net.Hosts[0].Name, net.Hosts[1].Name}
		for _, name := range names {
			require.FileExists(t, "/run/netns/"+name)
		}
	})
	for _, name := range names {
		require.NoFileExists(t, "/run/netns/"+name)
	}
}
