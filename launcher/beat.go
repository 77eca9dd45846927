// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// The proxies of a job tell each other by UDP over the data network that they
// can be reached: a node that is cut off there does not answer its PEs' peers,
// which would wait for ever, while the launcher may well still talk to it.
//
// The nodes form a ring, in which each sends a beat to both neighbours every
// second. So the traffic of a node does not depend on how many there are, no
// host is special, and of a job of three nodes or more each has two witnesses.
// Who is lost is for the launcher to say (lateness.go): of two nodes that do not
// hear each other, one may be cut off from all, and knows no more than the other.
//
// A beat is a datagram of a fixed size:
//
//	0   "gsbeat1\n"
//	8   sender's node     4 bytes
//	12  receiver's node   4 bytes
//	16  sequence number   8 bytes, from 1
//	24  HMAC-SHA256 with the job's secret of a label, the job's ID, and what is above
//
// with numbers in big endian. Whatever else comes is ignored, a beat from before
// too.
const (
	beatMagic  = "gsbeat1\n"
	beatSigned = len(beatMagic) + 4 + 4 + 8
	beatSize   = beatSigned + sha256.Size
	beatLabel  = "gorun beat"

	beatEvery = time.Second            // a node's beats
	beatTick  = 250 * time.Millisecond // looks for who is late

	// beatLate is the age of the last beat from which on the launcher is told.
	beatLate = 1500 * time.Millisecond

	// beatLost is the age at which a node is lost.
	beatLost = 3 * time.Second
)

// A pulse is a node's part of the beats. It does no input or output.
type pulse struct {
	id     string
	secret []byte
	node   int // which one this is
	seq    uint64
	near   []neighbour
	ticked time.Time
}

// A neighbour is what a node knows of one that it exchanges beats with.
type neighbour struct {
	node  int
	seq   uint64 // of the last beat heard
	heard time.Time
}

// newPulse returns that of a node of several. All count as heard at now.
func newPulse(id string, secret []byte, node, nodes int, now time.Time) *pulse {
	p := &pulse{id: id, secret: secret, node: node, ticked: now}
	next, last := (node+1)%nodes, (node+nodes-1)%nodes
	p.near = append(p.near, neighbour{node: next, heard: now})
	if last != next {
		p.near = append(p.near, neighbour{node: last, heard: now})
	}
	return p
}

func (p *pulse) sum(signed []byte) []byte {
	h := hmac.New(sha256.New, p.secret)
	h.Write([]byte(beatLabel))
	h.Write([]byte(p.id))
	h.Write(signed)
	return h.Sum(nil)
}

// beat returns the next beat for a node.
func (p *pulse) beat(to int) []byte {
	p.seq++
	b := append(make([]byte, 0, beatSize), beatMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(p.node))
	b = binary.BigEndian.AppendUint32(b, uint32(to))
	b = binary.BigEndian.AppendUint64(b, p.seq)
	return append(b, p.sum(b)...)
}

// hear takes a datagram, and reports whether it is a beat for this node.
func (p *pulse) hear(b []byte, now time.Time) bool {
	if len(b) != beatSize || string(b[:len(beatMagic)]) != beatMagic ||
		binary.BigEndian.Uint32(b[12:]) != uint32(p.node) {
		return false
	}
	for i := range p.near {
		n := &p.near[i]
		if binary.BigEndian.Uint32(b[8:]) != uint32(n.node) {
			continue
		}
		seq := binary.BigEndian.Uint64(b[16:])
		if seq <= n.seq || !hmac.Equal(b[beatSigned:], p.sum(b[:beatSigned])) {
			return false
		}
		n.seq, n.heard = seq, now
		return true
	}
	return false
}

// late returns the neighbours that are late. It is to be called every beatTick:
// what it has missed of that, this process has not run, and does not blame on
// the others.
func (p *pulse) late(now time.Time) (late []lateNode) {
	missed := now.Sub(p.ticked) - beatTick
	p.ticked = now
	for i := range p.near {
		n := &p.near[i]
		if missed > beatTick {
			n.heard = n.heard.Add(missed)
			if n.heard.After(now) { // a beat has come since
				n.heard = now
			}
		}
		if age := now.Sub(n.heard); age >= beatLate {
			late = append(late, lateNode{n.node, age})
		}
	}
	return late
}
