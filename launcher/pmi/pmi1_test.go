// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// fileOf returns a connection's socket as a file.
func fileOf(t *testing.T, conn net.Conn) *os.File {
	t.Helper()
	f, err := conn.(*net.TCPConn).File()
	require.NoError(t, err)
	conn.Close()
	return f
}

// socketPair returns both ends of a connection.
func socketPair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	b, err := l.Accept()
	require.NoError(t, err)
	return fileOf(t, a), fileOf(t, b)
}

// join1 returns a PMI-1 client of PE pe, and a channel with the server's verdict.
func (j *testJob) join1(t *testing.T, pe int) (*Client, <-chan error) {
	t.Helper()
	ours, theirs := socketPair(t)
	j.ExpectPMI1(pe, ours)
	served := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { served <- j.ServePMI1(pe, ours) })
	t.Cleanup(func() {
		theirs.Close()
		serving.Wait()
	})
	c, err := newPMI1(theirs, lineReader{bufio.NewReader(theirs)}, pe, j.job.NPEs)
	require.NoError(t, err)
	return c, served
}

// all1 runs f for a PMI-1 client of each PE, each of which must end well.
func (j *testJob) all1(t *testing.T, f func(c *Client) error) {
	t.Helper()
	var g errgroup.Group
	for pe := range j.job.NPEs {
		c, served := j.join1(t, pe)
		g.Go(func() error {
			if err := f(c); err != nil {
				return fmt.Errorf("PE %d: %w", pe, err)
			}
			if err := c.Finalize(); err != nil {
				return fmt.Errorf("PE %d: %w", pe, err)
			}
			return <-served
		})
	}
	require.NoError(t, g.Wait())
}

func TestPMI1_Allgather(t *testing.T) {
	j := newTestJob(t, 3)
	j.all1(t, gatherTest)
	for pe := range 3 {
		require.Equal(t, Finalized, j.Settle(pe, patience))
	}
}

func TestPMI1_BarrierWaitsForAll(t *testing.T) {
	newTestJob(t, 3).all1(t, barrierTest(new(atomic.Int64)))
}

func TestPMI1_JoinsBarriersOfOurProtocol(t *testing.T) {
	j := newTestJob(t, 2)
	a := j.join(t, 0)
	b, _ := j.join1(t, 1)
	entered := new(atomic.Int64)
	var g errgroup.Group
	for _, c := range []*Client{a, b} {
		g.Go(func() error { return barrierTest(entered)(c) })
	}
	require.NoError(t, g.Wait())
}

func TestPMI1_Abort(t *testing.T) {
	j := newTestJob(t, 2)
	c, served := j.join1(t, 1)
	inBarrier := make(chan error, 1)
	go func() { inBarrier <- c.Barrier() }()
	require.NoError(t, c.Abort(-9, "not sent"))
	require.Equal(t, "PE 1: -9 ", receiveIn(t, j.aborts))
	require.NoError(t, receiveIn(t, served))
	require.Error(t, receiveIn(t, inBarrier))
}

func TestPMI1_Lost(t *testing.T) {
	j := newTestJob(t, 2)
	c, _ := j.join1(t, 0)
	j.Close()
	receiveIn(t, c.Lost())
	require.Error(t, c.Barrier())
}

// talk sends PMI-1 requests as PE 0 of 2 and returns the replies.
func talk(t *testing.T, j *testJob, requests ...string) (replies []string, err error) {
	t.Helper()
	var out strings.Builder
	err = j.servePMI1(0, duplex{strings.NewReader(strings.Join(requests, "\n") + "\n"), &out})
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

func TestPMI1Server_AnswersAsMPICHExpects(t *testing.T) {
	j := newTestJob(t, 2)
	long := strings.Repeat("k", keylenMax)
	requests := []struct{ request, reply string }{
		{"cmd=init pmi_version=2 pmi_subversion=0", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1"},
		{"cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"},
		{"cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"},
		{"cmd=get_appnum", "cmd=appnum rc=0 appnum=0"},
		{"cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=kvs_gorun_feed"},
		{"cmd=get_universe_size", "cmd=universe_size rc=0 size=2"},
		{"cmd=get kvsname=kvs_gorun_feed key=PMI_process_mapping", "cmd=get_result rc=0 value=(vector,(0,1,2))"},
		{"cmd=get kvsname=kvs_gorun_feed key=none", "cmd=get_result rc=-1 msg=key_not_found"},
		{"cmd=put kvsname=kvs_gorun_feed key=-a value=x=y==z", "cmd=put_result rc=0"},
		{"cmd=put key=-a value=last", "cmd=put_result rc=0"},
		{"cmd=get key=-a", "cmd=get_result rc=0 value=last"},
		{"cmd=put key=" + long + " value=x", "cmd=put_result rc=-1 msg=key_of_1_to_63_and_value_of_at_most_1023_bytes_wanted"},
		{"cmd=lookup_name service=s", "cmd=lookup_result rc=1 msg=unsupported"},
		{"mcmd=spawn\nnprocs=2\nexecname=x\nendcmd", "cmd=spawn_result rc=1 msg=unsupported"},
		{"cmd=finalize", "cmd=finalize_ack rc=0"},
	}
	var sent, want []string
	for _, r := range requests {
		sent, want = append(sent, r.request), append(want, r.reply)
	}
	got, err := talk(t, j, sent...)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, 0, receiveIn(t, j.joined))
}

func TestPMI1Server_NamesWhatItDoesNotKnow(t *testing.T) {
	j := newTestJob(t, 2)
	_, err := talk(t, j, "cmd=dance partner=1")
	require.ErrorContains(t, err, "cmd=dance")
	_, err = talk(t, j, "hello")
	require.ErrorContains(t, err, `"hello"`)
}

func TestPMI1_InitackGivesRankAndSize(t *testing.T) {
	var sent strings.Builder
	server := "cmd=initack rc=0\ncmd=set debug=0\ncmd=set rank=2\ncmd=set size=4\n"
	rank, size, err := initack(&sent, lineReader{bufio.NewReader(strings.NewReader(server))}, 2)
	require.NoError(t, err)
	require.Equal(t, 2, rank)
	require.Equal(t, 4, size)
	require.Equal(t, "cmd=initack pmiid=2\n", sent.String())

	for _, server := range []string{"", "cmd=hello\n", "cmd=initack rc=1\n", "cmd=initack\ncmd=set size=2\n", "cmd=initack\ncmd=set size=2\ncmd=set rank=2\ncmd=set debug=0\n"} {
		_, _, err := initack(io.Discard, lineReader{bufio.NewReader(strings.NewReader(server))}, 2)
		require.Error(t, err, "%q", server)
	}
}
