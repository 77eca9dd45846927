// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/launcher/pmi"
)

// errEnded says that the job has ended before its PEs have started.
var errEnded = errors.New("the job has ended")

// joinNetwork finds the address of this node at which others reach it, together
// with the other nodes, and listens there for beats.
func (p *proxy) joinNetwork(frames <-chan frame) error {
	far := len(p.job.Nodes) > 1
	if !far && p.job.Iface == "" {
		return nil
	}
	own, err := localNetwork(p.job.Iface, p.job.Hosts, p.job.Node)
	if err != nil {
		return startFailure{err.Error(), StatusUsage}
	}
	if !far {
		p.source = own.Chosen
		return nil
	}
	data, err := json.Marshal(own)
	if err != nil {
		return err
	}
	f := frame{kind: frameNetwork, data: data}
	if err := f.check(); err != nil {
		return fmt.Errorf("networks of this host: %w", err)
	}
	p.up.send(f)
	f, err = awaitFrame(frames, frameNetworks)
	if err != nil {
		return err
	}
	var networks []network
	if err := json.Unmarshal(f.data, &networks); err != nil {
		return fmt.Errorf("networks of the nodes: %w", err)
	}
	if len(networks) != len(p.job.Nodes) || len(p.job.Hosts) != len(p.job.Nodes) {
		return fmt.Errorf("%d networks of %d nodes, with %d hosts", len(networks), len(p.job.Nodes), len(p.job.Hosts))
	}
	if p.source, err = pick(networks, p.job.Hosts, p.job.Node, routeTo); err != nil {
		return startFailure{err.Error(), StatusUsage}
	}
	p.beat, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.source, 0)))
	if err != nil {
		return fmt.Errorf("listen for beats: %w", err)
	}
	p.up.send(frame{kind: frameSource, data: []byte(p.beat.LocalAddr().String())})
	if f, err = awaitFrame(frames, framePeers); err != nil {
		return err
	}
	var peers []netip.AddrPort
	if err := json.Unmarshal(f.data, &peers); err != nil {
		return fmt.Errorf("addresses of the nodes: %w", err)
	}
	return p.beats(peers)
}

// awaitFrame returns the launcher's next frame, of the kind, before the PEs start.
func awaitFrame(frames <-chan frame, want kind) (frame, error) {
	for f := range frames {
		switch f.kind {
		case want:
			return f, nil
		case frameSignal: // nobody is there to get it; what ends the job follows
			if s := unix.Signal(f.n); s == unix.SIGINT || s == unix.SIGTERM {
				return frame{}, errEnded
			}
		case frameStop, frameKill:
			return frame{}, errEnded
		default:
			return frame{}, fmt.Errorf("frame %d from the launcher, want %d", f.kind, want)
		}
	}
	return frame{}, errEnded
}

// joinRounds adds to the bootstrap server's job what it needs if there are other
// nodes.
func (p *proxy) joinRounds(job *pmi.Job) {
	job.Nodes, job.Node = p.job.Nodes, p.job.Node
	// The server must not wait for a launcher that does not read.
	p.rounds = newOutbox(relay{&p.up}, nil)
	up := &link{w: p.rounds}
	job.Up = func(round []byte) { up.sendParts(frameRound, round) }
	job.Finalized = func(pe int) { up.send(frame{kind: frameFinalized, pe: pe}) }
	job.Failed = func(problem string) { up.send(frame{kind: frameRoundFailed, data: []byte(problem)}) }
	p.table.limit = pmi.RoundLimit(p.job.NPEs)
}

// obey handles a frame for the bootstrap or for PE 0's input.
func (p *proxy) obey(f frame) {
	switch f.kind {
	case frameInput:
		switch {
		case p.input == nil: // not for this node
		case len(f.data) > 0:
			_, _ = p.input.Write(f.data) // never fails
		default:
			p.input.Close()
		}
	case frameTable:
		table, err := p.table.add(f)
		if err == nil && table != nil {
			err = p.server.Complete(table)
		}
		if err != nil {
			p.up.send(frame{kind: frameRoundFailed, data: []byte(err.Error())})
		}
	case frameRefuse:
		p.server.Fail(string(f.data))
	}
}

// feed gives PE 0 a pipe for its standard input, which frameInput fills, and
// returns the end that the PE reads.
func (p *proxy) feed() (int, error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return 0, fmt.Errorf("create a pipe: %w", err)
	}
	in, err := ours(fd[1], "input")
	if err != nil {
		unix.Close(fd[0])
		return 0, err
	}
	p.input = newOutbox(in, func(n int) { p.up.send(frame{kind: frameInputTaken, n: int64(n)}) })
	return fd[0], nil
}
