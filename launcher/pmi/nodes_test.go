// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// A cluster is the servers of a job, joined by a hub.
type cluster struct {
	servers []*testJob
	events  chan func() // for the hub, which is for one goroutine
	hub     *Hub
}

func newCluster(t *testing.T, nodes ...int) *cluster {
	t.Helper()
	c := &cluster{events: make(chan func(), 100), hub: NewHub(nodes)}
	npes := 0
	for _, pes := range nodes {
		npes += pes
	}
	for node := range nodes {
		c.servers = append(c.servers, serveTestJob(t, Job{
			NPEs: npes, Nodes: nodes, Node: node,
			Up: func(round []byte) {
				c.events <- func() {
					if all, err := c.hub.Add(node, round); err != nil {
						c.fail(err)
					} else if all != nil {
						for _, s := range c.servers {
							if err := s.Complete(bytes.Clone(all)); err != nil {
								t.Error(err)
							}
						}
					}
				}
			},
			Finalized: func(pe int) {
				c.events <- func() {
					if err := c.hub.Finalize(pe); err != nil {
						c.fail(err)
					}
				}
			},
			Failed: func(problem string) { c.events <- func() { c.fail(fmt.Errorf("%s", problem)) } },
		}))
	}
	var running sync.WaitGroup
	running.Go(func() {
		for event := range c.events {
			event()
		}
	})
	t.Cleanup(func() {
		close(c.events)
		running.Wait()
	})
	return c
}

func (c *cluster) fail(err error) {
	for _, s := range c.servers {
		s.Fail(err.Error())
	}
}

// node returns the server of a PE.
func (c *cluster) node(pe int) *testJob {
	for _, s := range c.servers {
		if pe < s.first+len(s.peers) {
			return s
		}
	}
	panic("no such PE")
}

// each runs f for each client.
func each(t *testing.T, clients []*Client, f func(c *Client) error) {
	t.Helper()
	var g errgroup.Group
	for pe, c := range clients {
		g.Go(func() error {
			if err := f(c); err != nil {
				return fmt.Errorf("PE %d: %w", pe, err)
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

// join returns a client of each PE; those of pmi1 speak PMI-1.
func (c *cluster) join(t *testing.T, pmi1 ...int) []*Client {
	t.Helper()
	var clients []*Client
	for pe := range c.servers[0].job.NPEs {
		if strings.Contains(fmt.Sprint(pmi1), fmt.Sprint(pe)) {
			client, _ := c.node(pe).join1(t, pe)
			clients = append(clients, client)
		} else {
			clients = append(clients, c.node(pe).join(t, pe))
		}
	}
	return clients
}

func TestNodes_AllgatherGivesEveryPETheBlobsOfAll(t *testing.T) {
	for _, nodes := range [][]int{{2, 2}, {1, 3, 2}, {1, 1, 1, 1}} {
		clients := newCluster(t, nodes...).join(t)
		each(t, clients, gatherTest)
		each(t, clients, func(c *Client) error { return c.Finalize() })
	}
}

func TestNodes_BarrierWaitsForAll(t *testing.T) {
	each(t, newCluster(t, 1, 2, 1).join(t), barrierTest(new(atomic.Int64)))
}

func TestNodes_PMI1KeysReachOtherNodes(t *testing.T) {
	clients := newCluster(t, 2, 2).join(t, 0, 1, 2, 3)
	each(t, clients, gatherTest)
	each(t, clients, func(c *Client) error { return c.Finalize() })
}

func TestNodes_BothProtocolsJoinBarriers(t *testing.T) {
	each(t, newCluster(t, 2, 2).join(t, 0, 3), barrierTest(new(atomic.Int64)))
}

func TestNodes_CollectivesMustMatch(t *testing.T) {
	for _, other := range []int{1, 2} { // on PE 0's node, and on the other
		clients := newCluster(t, 2, 2).join(t)
		errs := make(chan error, 4)
		for pe, c := range clients {
			go func() {
				if pe == other || pe == 3 && other == 2 {
					_, err := c.Allgather([]byte("x"))
					errs <- err
				} else {
					errs <- c.Barrier()
				}
			}()
		}
		for range 4 {
			require.ErrorContains(t, receiveIn(t, errs), "while PE")
		}
		require.ErrorContains(t, clients[3].Barrier(), "while PE", "once failed, always failed")
	}
}

func TestNodes_FinalizedPEIsNotWaitedFor(t *testing.T) {
	for _, early := range []bool{true, false} {
		clients := newCluster(t, 1, 1).join(t)
		errs := make(chan error, 1)
		if early {
			require.NoError(t, clients[1].Finalize())
			require.ErrorContains(t, clients[0].Barrier(), "PE 1 has called Finalize")
			continue
		}
		go func() { errs <- clients[0].Barrier() }()
		require.NoError(t, clients[1].Finalize())
		require.ErrorContains(t, receiveIn(t, errs), "PE 1 has called Finalize")
	}
}

func TestNodes_APEOfAnotherNodeIsAStranger(t *testing.T) {
	c := newCluster(t, 2, 2)
	_, err := joinGorun(c.servers[0].addr, testSecret, 2, 4)
	require.Error(t, err)
	require.Contains(t, receiveIn(t, c.servers[0].logs), "PE 2 of another node; PEs 0 to 1 are here")
}

func TestNodes_NoticeIsOfThisNode(t *testing.T) {
	c := newCluster(t, 2, 1)
	c.servers[0].overdue = time.Millisecond
	client := c.servers[0].join(t, 1)
	errs := make(chan error, 1)
	go func() { errs <- client.Barrier() }()
	require.Equal(t, "PE 1 has been waiting in a barrier of the bootstrap for 1ms, where these have not come: PE 0",
		receiveIn(t, c.servers[0].notice))
	c.servers[0].Close()
	require.Error(t, receiveIn(t, errs))
}

func TestMapping(t *testing.T) {
	tests := []struct {
		nodes []int
		want  string
	}{
		{[]int{3}, "(vector,(0,1,3))"},
		{[]int{2, 2}, "(vector,(0,2,2))"},
		{[]int{2, 2, 1}, "(vector,(0,2,2),(2,1,1))"},
		{[]int{1, 2, 1}, "(vector,(0,1,1),(1,1,2),(2,1,1))"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, mapping(test.nodes))
		nodes, err := readMapping(test.want)
		require.NoError(t, err)
		require.Equal(t, test.nodes, nodes)
	}
	var odd []int
	for i := range 200 {
		odd = append(odd, 1+i%2)
	}
	require.Empty(t, mapping(odd), "a value has less than 1024 bytes")
}

// readMapping reads a mapping as the PMI's users do.
func readMapping(s string) (nodes []int, err error) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "(vector,"), ")")
	for triple := range strings.SplitSeq(s, "),") {
		var first, count, pes int
		if _, err := fmt.Sscanf(strings.TrimPrefix(triple, "("), "%d,%d,%d", &first, &count, &pes); err != nil {
			return nil, err
		}
		if first != len(nodes) {
			return nil, fmt.Errorf("node %d after %d nodes", first, len(nodes))
		}
		for range count {
			nodes = append(nodes, pes)
		}
	}
	return nodes, nil
}

func TestHub_RefusesWhatNoServerSends(t *testing.T) {
	good := nodeRound{op: opBarrier, table: encodeTable([][]byte{nil, nil})}.encode()
	tests := map[string][]byte{
		"ends at blob 0":            nil,
		"an op of 2 bytes":          encodeTable([][]byte{{opBarrier, 0}, nil, nil}),
		"op 7 is no collective":     nodeRound{op: opAbort, table: encodeTable([][]byte{nil, nil})}.encode(),
		"1 names and values":        nodeRound{op: opBarrier, keys: [][]byte{{1}}, table: encodeTable([][]byte{nil, nil})}.encode(),
		"blobs: table ends at":      nodeRound{op: opBarrier, table: encodeTable([][]byte{nil})}.encode(),
		"keys: blob 0: its length":  encodeTable([][]byte{{opBarrier}, {1, 2}, nil}),
		"bytes behind the table's ": append(bytes.Clone(good), 1),
	}
	for want, round := range tests {
		_, err := NewHub([]int{2, 1}).Add(0, round)
		require.ErrorContains(t, err, want)
	}
	h := NewHub([]int{2, 1})
	all, err := h.Add(0, good)
	require.NoError(t, err)
	require.Nil(t, all)
	nodes, what := h.Missing()
	require.Equal(t, []int{1}, nodes)
	require.Equal(t, "a barrier of the bootstrap", what)
	_, err = h.Add(0, good)
	require.ErrorContains(t, err, "PE 0 has joined a barrier of the bootstrap twice")
}

func TestServer_CompleteChecksTheHubsAnswer(t *testing.T) {
	c := newCluster(t, 1, 1)
	client := c.servers[0].join(t, 0)
	for range 2 {
		require.NoError(t, c.servers[0].Complete([]byte("x")), "no round is under way")
	}
	up := make(chan []byte, 1)
	c.servers[0].mu.Lock() // the test is the hub
	c.servers[0].job.Up = func(round []byte) { up <- round }
	c.servers[0].mu.Unlock()
	errs := make(chan error, 1)
	go func() { errs <- client.Barrier() }()
	receiveIn(t, up)
	other := nodeRound{op: opAllgather, table: encodeTable([][]byte{nil})}.encode()
	require.ErrorContains(t, c.servers[0].Complete(encodeTable([][]byte{other, other})), "node 0 is in an allgather")
	require.ErrorContains(t, receiveIn(t, errs), "node 0 is in an allgather")
}

func FuzzHub(f *testing.F) {
	f.Add(nodeRound{op: opBarrier, table: encodeTable([][]byte{nil, nil})}.encode())
	f.Add(nodeRound{op: opAllgather, keys: [][]byte{{1}, {2}}, table: encodeTable([][]byte{{3}, nil})}.encode())
	f.Add([]byte("\x00\x00\x00\x01\x03\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, round []byte) {
		h := NewHub([]int{2})
		all, err := h.Add(0, round)
		if err != nil {
			return
		}
		r, err := parseNodeRound(round, 2)
		if err != nil || !bytes.Equal(r.encode(), round) {
			t.Errorf("the hub took %x, which is %+v, %v", round, r, err)
		}
		if !bytes.Equal(all, encodeTable([][]byte{round})) {
			t.Errorf("of %x the hub made %x", round, all)
		}
	})
}
