// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"fmt"
	"strings"

	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// A nodeJob is what a proxy learns of a job. Text of the user is bytes: JSON
// would change what is not UTF-8.
type nodeJob struct {
	ID     string
	Secret []byte

	Path   []byte
	Args   [][]byte
	Env    [][]byte // without the PEs' own
	Dir    []byte
	Remove [][]byte

	First int // the job's number of the node's first PE
	PEs   int // PEs of this node
	NPEs  int // PEs of the job

	Node  int      // which of the job's nodes this is
	Nodes []int    // PEs of each
	Hosts []string // names of each; empty: the launcher's own
	Iface string   // interface to the data network; empty: found out

	Heap    uint64
	Piped   bool // stdout, too, comes as frames
	Fed     bool // stdin, too, comes as frames
	Bind    Binding
	Shared  bool // the PEs stay in the launcher's process group
	Verbose bool
}

func toBytes(texts []string) [][]byte {
	b := make([][]byte, len(texts))
	for i, s := range texts {
		b[i] = []byte(s)
	}
	return b
}

func toStrings(texts [][]byte) []string {
	s := make([]string, len(texts))
	for i, b := range texts {
		s[i] = string(b)
	}
	return s
}

// baseEnv returns env without what belongs to another job: that of a gorun or
// of an mpiexec that has started us.
func baseEnv(env []string) []string {
	base := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, pmi.EnvPrefix) && !strings.HasPrefix(e, "PMI_") {
			base = append(base, e)
		}
	}
	return base
}

// withGOMAXPROCS gives every PE its share of the cores, unless the user has set
// one: a garbage collection with more threads than cores waits for those that
// do not run.
func withGOMAXPROCS(env []string, cores, pes int) []string {
	for _, e := range env {
		if strings.HasPrefix(e, "GOMAXPROCS=") {
			return env
		}
	}
	return append(env, fmt.Sprintf("GOMAXPROCS=%d", max(1, cores/pes)))
}

// layout returns the layout of the node's shared file, or why there is none.
func (j *nodeJob) layout(cores int) (segment.Layout, error) {
	if j.Heap > MaxHeap {
		return segment.Layout{}, fmt.Errorf("a symmetric heap of %d bytes, at most %d allowed", j.Heap, uint64(MaxHeap))
	}
	l := segment.Layout{
		First: j.First,
		PEs:   j.PEs,
		NPEs:  j.NPEs,
		Size:  segment.SizeForHeap(uintptr(j.Heap)),
		Cores: cores,
	}
	// Whoever reads the header checks it; better here than in each PE.
	return segment.ParseHeader(l.Header())
}
