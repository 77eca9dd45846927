// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"time"

	"github.com/goshmem/goshmem/internal/segment"
)

// A Job says what to start.
type Job struct {
	Path string   // the executable
	Args []string // its arguments, Args[0] included
	Env  []string // environment of the PEs, as NAME=value; internal variables are replaced
	Dir  string   // where the PEs start; empty: here

	NPEs    int           // how many PEs; see CheckNPEs
	Hosts   []Host        // where they run, in the order of their numbers; empty: all of them here
	Agent   []string      // command that starts the one behind it on a host; see AgentHost
	Iface   string        // each node's interface to the data network; empty: found out
	Heap    uint64        // bytes of each PE's symmetric heap; at most MaxHeap
	Label   bool          // start each line of output with the PE's number
	Timeout time.Duration // how long the job may take; 0: for ever
	Bind    Binding       // which cores the PEs may use
	Verbose bool          // tell what happens

	// Remove names files and folders to be removed once all PEs run.
	Remove []string
}

// A Host is a machine, or what an agent takes for one, that runs some of a job's
// PEs.
type Host struct {
	Name string
	PEs  int // at least one
}

// AgentHost stands for the host's name in the words of [Job.Agent]. The words of
// gorun's own command line for a proxy are put behind them; the agent connects
// its standard input and output to those of the command, without change.
//
// Without an agent, the only host is the one that gorun runs on.
const AgentHost = "{host}"

// A Binding says which cores the PEs of a node may use.
type Binding int

const (
	// BindAuto is BindCore if the node has a core for each PE, else BindNone.
	BindAuto Binding = iota

	// BindNone lets every PE use all cores.
	BindNone

	// BindCore gives every PE its share of the cores, at least one.
	BindCore
)

// Exit statuses of [Run] beyond those of the PEs.
const (
	StatusOK          = 0
	StatusError       = 1   // a PE broke a rule of the job
	StatusUsage       = 2   // nothing was started: the job can't be as asked
	StatusLostNode    = 113 // a node is lost with its PEs: its proxy is gone, or it does not answer
	StatusTimeout     = 124 // the job took longer than Job.Timeout
	StatusNotRunnable = 126 // the program can't be executed
	StatusNotFound    = 127 // there is no such program
	StatusSignal      = 128 // + the signal's number: killed by a signal, gorun or a PE
)

const (
	// MaxHeap is the largest heap of a PE in bytes: addresses have 47 bits.
	MaxHeap = 1<<46 - 1<<20

	// MaxPEs is the most PEs of a job, whatever the system allows.
	MaxPEs = segment.MaxPEs
)
