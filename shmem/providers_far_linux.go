// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/joint"
	"github.com/goshmem/goshmem/fabric/ofi"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// farDomain is what shmem uses of a libfabric domain.
type farDomain interface {
	fabric.Driver
	Provider() string
	Address() string
	Stats() ofi.Stats
}

// joinFar joins h's domain, on a node's shared file of layout l, with libfabric and
// connects it with those of all PEs. all says that every transfer goes through libfabric,
// farAtomics that every atomic does. client is nil for a lone process.
func joinFar(h Host, l segment.Layout, client *pmi.Client, vars env.Table, all, farAtomics bool) (Host, error) {
	use, err := vars.LibfabricUse()
	if err != nil {
		return Host{}, err
	}
	o := ofi.Options{Crowded: h.Crowded, TxSize: use.TxSize, Allocated: use.Allocated, ReadBack: use.ReadBack, Flood: use.Flood}
	if client != nil {
		o.Source, o.Cores = client.Source(), client.Cores()
	}
	d, err := ofi.New(o).Open(fabric.Job{PE: h.PE, NPEs: h.NPEs, SegmentSize: l.Size})
	if err != nil {
		if l.PEs < l.NPEs {
			err = fmt.Errorf("%d of the %d PEs are on other nodes: %w", l.NPEs-l.PEs, l.NPEs, err)
		}
		return Host{}, err
	}
	far, ok := d.(farDomain)
	if !ok {
		return Host{}, fmt.Errorf("fabric ofi's domain is a %T, which can't be joined", d)
	}
	both, err := joint.New(h.Domain, far, joint.Options{PE: h.PE, AllFar: all, FarAtomics: farAtomics})
	if err != nil {
		return Host{}, err
	}
	if err := connectFar(both, client, &h, l, farAtomics); err != nil {
		return Host{}, err
	}
	h.Domain, h.Fabric = both, far.Provider()
	if vars.IsSet(env.Debug) && h.PE == l.First {
		fmt.Fprintf(os.Stderr, "goshmem: PEs %d to %d of %d share memory; %s over %s at %s\n",
			l.First, l.First+l.PEs-1, l.NPEs, map[bool]string{true: "all transfers", false: "others are reached"}[all], far.Provider(), far.Address())
	}
	// The domain must stay until no PE uses it any more.
	h.Leave = func() error { return leaveFar(client, far, vars) }
	return h, nil
}

// connectFar exchanges the PEs' addresses and keys, of which h's node keeps one copy, and connects
// d with them. What all must have decided alike goes with them: it is compared before anything is
// sent over the network. It sets what h says of all nodes: whether some is crowded, and, if near PEs
// are reached directly, where they begin.
func connectFar(d *joint.Domain, client *pmi.Client, h *Host, l segment.Layout, farAtomics bool) error {
	blob, err := d.Register(d.Map(h.PE))
	if err != nil {
		return err
	}
	caps := d.Caps()
	rule := fmt.Sprintf("direct %t, atomics by the processor %t, all by the fabric %t, segments of %d bytes\x00", caps.Direct, caps.CPUAtomics, farAtomics, l.Size)
	own := append([]byte(rule), blob...)
	node := uint64(l.First) << 1
	if h.Crowded {
		node |= 1
	}
	own = binary.BigEndian.AppendUint64(own, node)
	table := [][]byte{own}
	if client != nil {
		if table, err = client.Allgather(own); err != nil {
			return err
		}
	}
	for pe, b := range table {
		theirs, rest, _ := bytes.Cut(b, []byte{0})
		if string(theirs)+"\x00" != rule || len(rest) < 8 {
			return fmt.Errorf("PE %d has decided otherwise than PE %d (%s; %s): give all PEs the same SHMEM_ variables, and start all nodes with programs of one goshmem", pe, h.PE, theirs, rule[:len(rule)-1])
		}
		last := len(rest) - 8
		node := binary.BigEndian.Uint64(rest[last:])
		h.Crowded = h.Crowded || node&1 != 0
		if first := int(node >> 1); first == pe && caps.Direct {
			h.Nodes = append(h.Nodes, first)
		}
		table[pe] = rest[:last]
	}
	blobs := fabric.NewTable(table)
	if near, ok := h.Domain.(*shm.Domain); ok && client != nil {
		shared, err := near.Share(blobs.Bytes(), client.Barrier)
		if err != nil {
			return err
		}
		blobs = blobs.On(shared)
	}
	return d.Connect(blobs)
}

// leaveNear is Leave where nothing is far.
func leaveNear(client *pmi.Client, vars env.Table) error {
	if vars.IsSet(env.Stats) && (client == nil || client.PE() == 0) {
		fmt.Fprintln(os.Stderr, "goshmem: all PEs share memory: libfabric was not used")
	}
	return nil
}

// leaveFar is Leave where libfabric is used: it returns when all PEs have completed their last
// operation. PE 0 prints the sums of all PEs' calls if that is asked for.
func leaveFar(client *pmi.Client, far farDomain, vars env.Table) error {
	own, err := binary.Append(nil, binary.BigEndian, far.Stats())
	if err != nil {
		return err
	}
	table := [][]byte{own}
	if client != nil {
		if table, err = client.Allgather(own); err != nil || client.PE() != 0 {
			return err
		}
	}
	if !vars.IsSet(env.Stats) {
		return nil
	}
	var sum ofi.Stats
	for pe, b := range table {
		var s ofi.Stats
		if _, err := binary.Decode(b, binary.BigEndian, &s); err != nil {
			return fmt.Errorf("statistics of PE %d: %w", pe, err)
		}
		sum = sum.Plus(s)
	}
	return printStats(os.Stderr, len(table), far.Provider(), sum)
}

func printStats(w io.Writer, pes int, provider string, s ofi.Stats) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "goshmem: calls of libfabric by %d PEs over %s:\n", pes, provider)
	line := func(call string, n uint64, more string) {
		fmt.Fprintf(&b, "goshmem:   %-24s %12d%s\n", call, n, more)
	}
	line("fi_writemsg", s.Writes, fmt.Sprintf("  (%d inject, %d from a bounce buffer)", s.InjectedWrites, s.BouncedWrites))
	line("fi_readmsg", s.Reads, "")
	line("fi_atomicmsg", s.Atomics, "")
	line("fi_fetch_atomicmsg", s.FetchAtomics, "")
	line("fi_compare_atomicmsg", s.CompareAtomics, "")
	line("fi_inject_write", s.Notes, "  (words of collectives that nobody answers)")
	line("fi_sendmsg", s.Batches, fmt.Sprintf("  (%d puts and atomics in batches)", s.Records))
	line("fi_inject", s.Acks, "  (batches carried out)")
	_, err := w.Write(b.Bytes())
	if err != nil {
		return errors.Join(errors.New("print the statistics"), err)
	}
	return nil
}
