// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// patience bounds waits that only a defect makes long.
const patience = time.Minute

// A testJob is a server with what it has told of.
type testJob struct {
	*Server
	addr   string
	joined chan int
	aborts chan string
	logs   chan string
	notice chan string
}

func newTestJob(t *testing.T, npes int) *testJob {
	t.Helper()
	return serveTestJob(t, Job{NPEs: npes})
}

// serveTestJob serves a job of which only its size and nodes are given.
func serveTestJob(t *testing.T, job Job) *testJob {
	t.Helper()
	j := &testJob{
		joined: make(chan int, 2*job.NPEs),
		aborts: make(chan string, job.NPEs),
		logs:   make(chan string, 10*maxStrangers),
		notice: make(chan string, 1),
	}
	job.ID, job.Secret = "feed", testSecret
	job.Joined = func(pe int) { j.joined <- pe }
	job.Abort = func(pe, code int, msg string) { j.aborts <- fmt.Sprintf("PE %d: %d %s", pe, code, msg) }
	job.Log = func(text string) { j.logs <- text }
	job.Notice = func(text string) { j.notice <- text }
	j.Server = NewServer(job)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	j.addr = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(j.Greet(conn, "a test"))
		}
	})
	t.Cleanup(func() {
		l.Close()
		j.Close()
		serving.Wait()
	})
	return j
}

// join returns the client of a PE.
func (j *testJob) join(t *testing.T, pe int) *Client {
	t.Helper()
	c, err := joinGorun(j.addr, testSecret, pe, j.job.NPEs)
	require.NoError(t, err)
	return c
}

// all runs f for a client of each PE.
func (j *testJob) all(t *testing.T, f func(c *Client) error) {
	t.Helper()
	var g errgroup.Group
	for pe := range j.job.NPEs {
		c := j.join(t, pe)
		g.Go(func() error {
			if err := f(c); err != nil {
				return fmt.Errorf("PE %d: %w", pe, err)
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

// receiveIn returns what comes from ch.
func receiveIn[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing for %v", patience)
		panic("unreachable")
	}
}

// gatherTest gathers blobs of several sizes and checks those of all.
func gatherTest(c *Client) error {
	for _, size := range []int{0, 1, 449, 450, 451, 5000, MaxBlob} {
		blob := func(pe int) []byte { return []byte(strings.Repeat(string(rune('a'+pe)), size+pe)[:size]) }
		blobs, err := c.Allgather(blob(c.PE()))
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
		if len(blobs) != c.NPEs() {
			return fmt.Errorf("%d blobs, want %d", len(blobs), c.NPEs())
		}
		for pe, b := range blobs {
			if !slices.Equal(b, blob(pe)) {
				return fmt.Errorf("%d bytes: PE %d gave %.20q…, want %.20q…", size, pe, b, blob(pe))
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

func TestServer_AllgatherGivesEveryPETheBlobsOfAll(t *testing.T) {
	j := newTestJob(t, 5)
	j.all(t, func(c *Client) error {
		if err := gatherTest(c); err != nil {
			return err
		}
		if _, err := c.Allgather(make([]byte, MaxBlob+1)); err == nil {
			return fmt.Errorf("no error for %d bytes", MaxBlob+1)
		}
		return c.Finalize()
	})
	var joined []int
	for range 5 {
		joined = append(joined, receiveIn(t, j.joined))
	}
	slices.Sort(joined)
	require.Equal(t, []int{0, 1, 2, 3, 4}, joined)
	for pe := range 5 {
		require.Equal(t, Finalized, j.Settle(pe, patience))
	}
}

// barrierTest checks of many barriers that nobody leaves one before all came.
func barrierTest(entered *atomic.Int64) func(c *Client) error {
	return func(c *Client) error {
		for i := range 50 {
			entered.Add(1)
			if err := c.Barrier(); err != nil {
				return err
			}
			if got, want := entered.Load(), int64((i+1)*c.NPEs()); got < want {
				return fmt.Errorf("left barrier %d after %d arrivals, want %d", i, got, want)
			}
		}
		return nil
	}
}

func TestServer_BarrierWaitsForAll(t *testing.T) {
	newTestJob(t, 3).all(t, barrierTest(new(atomic.Int64)))
}

func TestServer_TellsWhoIsMissing(t *testing.T) {
	j := newTestJob(t, 12)
	j.overdue = time.Millisecond
	c := j.join(t, 1)
	errs := make(chan error, 1)
	go func() { errs <- c.Barrier() }()
	require.Equal(t, "PE 1 has been waiting in a barrier of the bootstrap for 1ms, where these have not come: "+
		"PE 0, PE 2, PE 3, PE 4, PE 5, PE 6, PE 7, PE 8, others", receiveIn(t, j.notice))
	j.Close()
	require.Error(t, receiveIn(t, errs))
}

func TestServer_StateFollowsThePE(t *testing.T) {
	j := newTestJob(t, 2)
	require.Equal(t, Outside, j.Settle(0, patience))
	c := j.join(t, 0)
	require.Equal(t, Inside, j.Settle(0, time.Nanosecond))
	require.NoError(t, c.Finalize())
	require.Equal(t, Finalized, j.Settle(0, patience))
	require.Equal(t, Outside, j.Settle(1, patience))
}

func TestServer_RefusesASecondHello(t *testing.T) {
	j := newTestJob(t, 2)
	first := j.join(t, 1)
	_, err := joinGorun(j.addr, testSecret, 1, 2)
	var refused refusal
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "PE 1 has called Init before")

	require.NoError(t, first.Finalize())
	_, err = joinGorun(j.addr, testSecret, 1, 2)
	require.ErrorAs(t, err, &refused, "also after Finalize")
}

func TestServer_CollectivesMustMatch(t *testing.T) {
	j := newTestJob(t, 2)
	a, b := j.join(t, 0), j.join(t, 1)
	errs := make(chan error, 2)
	go func() { errs <- a.Barrier() }()
	go func() {
		_, err := b.Allgather([]byte("x"))
		errs <- err
	}()
	for range 2 {
		require.ErrorContains(t, receiveIn(t, errs), "while PE")
	}
}

func TestServer_FinalizedPEIsNotWaitedFor(t *testing.T) {
	for _, early := range []bool{true, false} {
		j := newTestJob(t, 2)
		a, b := j.join(t, 0), j.join(t, 1)
		if early {
			require.NoError(t, b.Finalize())
			require.ErrorContains(t, a.Barrier(), "PE 1 has called Finalize")
			continue
		}
		errs := make(chan error, 1)
		go func() { errs <- a.Barrier() }()
		require.NoError(t, b.Finalize())
		require.ErrorContains(t, receiveIn(t, errs), "PE 1 has called Finalize")
	}
}

func TestServer_AbortPassesABarrierUnderWay(t *testing.T) {
	j := newTestJob(t, 2)
	c := j.join(t, 0)
	inBarrier := make(chan error, 1)
	go func() { inBarrier <- c.Barrier() }()
	require.NoError(t, c.Abort(7, "enough"))
	require.Equal(t, "PE 0: 7 enough", receiveIn(t, j.aborts))
	require.Error(t, receiveIn(t, inBarrier))
	select {
	case <-c.Lost():
		t.Error("an abort counts as a lost launcher")
	default:
	}
}

func TestClient_LostWhenTheServerEnds(t *testing.T) {
	j := newTestJob(t, 2)
	c, left := j.join(t, 0), j.join(t, 1)
	require.NoError(t, left.Finalize())
	j.Close()
	receiveIn(t, c.Lost())
	require.Error(t, c.Barrier())
	select {
	case <-left.Lost():
		t.Error("a launcher is lost after Finalize")
	default:
	}
}

func TestServer_StrangersDoNotHarm(t *testing.T) {
	j := newTestJob(t, 2)
	c := j.join(t, 0)
	for _, text := range []string{"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n", magic + strings.Repeat("\xff", 400), ""} {
		conn, err := net.Dial("tcp", j.addr)
		require.NoError(t, err)
		fmt.Fprint(conn, text)
		conn.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, conn)
		conn.Close()
		require.Contains(t, receiveIn(t, j.logs), "dropped")
	}
	wrong := testSecret
	wrong[0]++
	_, err := joinGorun(j.addr, wrong, 1, 2)
	require.ErrorIs(t, err, errBadProof)

	d := j.join(t, 1)
	errs := make(chan error, 1)
	go func() { errs <- d.Barrier() }()
	require.NoError(t, c.Barrier())
	require.NoError(t, receiveIn(t, errs))
}

func TestServer_OldestStrangerGoesFirst(t *testing.T) {
	j := newTestJob(t, 1)
	var silent []net.Conn
	for range maxStrangers + 2 { // one a PE, and one too many
		conn, err := net.Dial("tcp", j.addr)
		require.NoError(t, err)
		defer conn.Close()
		silent = append(silent, conn)
	}
	// Someone has been hung up on, and long before the time for a greeting.
	require.NoError(t, silent[0].SetReadDeadline(time.Now().Add(greetWait/2)))
	_, err := silent[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, j.join(t, 0).Finalize())
}
