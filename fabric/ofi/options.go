// SPDX-License-Identifier: BSD-3-Clause

package ofi

import "time"

// Options say how a domain is opened. The zero value serves PEs of one machine.
type Options struct {
	// Provider is libfabric's name of the provider: "tcp;ofi_rxm", or "tcp" for
	// what is built on it. "": a native NIC if there is one, else tcp;ofi_rxm,
	// else sockets, of those that libfabric's own variable FI_PROVIDER admits.
	Provider string

	// Source is the IP address of this host at which the others reach it. ""
	// is the loopback address, for PEs of one host. Providers that are not
	// addressed by IP ignore it.
	Source string

	// Key is the key of the segment, where the provider takes ours. 0: random.
	Key uint64

	// Cores are those that the domain's thread may run on; nil: this process's. Where each
	// PE is bound to a core on which it computes, the thread is served sooner by another.
	Cores []int

	// Crowded says that the PEs on this machine outnumber its cores: waits
	// yield sooner, and sleep sooner.
	Crowded bool

	// TxSize is how many operations may be in flight on an endpoint. 0: the
	// provider's default.
	TxSize int

	// Flood is how many operations an endpoint has in flight when it begins to collect small
	// puts, where the target's processor carries them out. 0: enough to keep both sides busy.
	Flood int

	// ConnectTimeout is how long an operation may wait for the first answer of a
	// PE. 0: 10 s.
	ConnectTimeout time.Duration

	// Allocated treats the provider as one that pins the memory it registers
	// (FI_MR_ALLOCATED), for tests.
	Allocated bool

	// ReadBack makes Quiet read from every PE that was written to, as for
	// providers whose completions come before delivery, for tests.
	ReadBack bool
}

// Info describes one way that libfabric offers to reach other PEs.
type Info struct {
	Provider string // "tcp;ofi_rxm"
	Version  string // of the provider: "117.0"
	Fabric   string // what the interface is connected to: "10.0.0.0/16"
	Domain   string // the interface: "eth0"
	Usable   bool   // by this package
	Reason   string // why it is not usable, or what to know before it is used; may be ""
}

// Stats counts the posts that the provider took since the domain was opened.
type Stats struct {
	Writes         uint64 // fi_writemsg
	Reads          uint64 // fi_readmsg
	Atomics        uint64 // fi_atomicmsg
	FetchAtomics   uint64 // fi_fetch_atomicmsg
	CompareAtomics uint64 // fi_compare_atomicmsg
	Notes          uint64 // fi_inject_write

	InjectedWrites uint64 // of Writes: sent with FI_INJECT
	BouncedWrites  uint64 // of Writes: sent from a buffer of this package

	Batches uint64 // fi_sendmsg
	Records uint64 // puts and atomics in Batches
	Acks    uint64 // fi_inject: batches carried out here
}

// Plus returns the sums of both.
func (s Stats) Plus(t Stats) Stats {
	s.Writes += t.Writes
	s.Reads += t.Reads
	s.Atomics += t.Atomics
	s.FetchAtomics += t.FetchAtomics
	s.CompareAtomics += t.CompareAtomics
	s.Notes += t.Notes
	s.InjectedWrites += t.InjectedWrites
	s.BouncedWrites += t.BouncedWrites
	s.Batches += t.Batches
	s.Records += t.Records
	s.Acks += t.Acks
	return s
}
