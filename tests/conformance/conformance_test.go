// SPDX-License-Identifier: BSD-3-Clause

// Package conformance holds the library against OpenSHMEM 1.6: a table of
// promises, section by section, each with a program that finds out whether it
// is kept. Every row runs on every fabric with 1, 2, 3, 5 and 8 PEs, and a row that
// moves or orders data is shown to fail on a fabric that does not.
package conformance

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
	"github.com/goshmem/goshmem/shmem"
)

// A row is one promise of the specification.
type row struct {
	sec  string // third-level section of OpenSHMEM 1.6
	name string // the routine and what it promises
	np   int    // the least number of PEs that shows it; 0: 1
	heap int    // bytes of symmetric heap if loop's usual ones do not do; 0: they do
	on   where  // 0: everywhere
	ends ending

	// run returns an error if the promise is broken. All PEs call it.
	run func(pe *shmem.PE) error

	// faults are what a fabric may do wrong so that run has to fail.
	faults []fault

	// without is run without the call that the row is about. It has to fail on
	// a fabric that is right, for some of its orders of delivery.
	without func(pe *shmem.PE) error
}

// where is a set of places that a row can run in.
type where uint

const (
	onLoop  where = 1 << iota
	onShm         // processes of one node
	onMixed       // such processes, whose atomics are libfabric's
	onOfi         // such processes, with every transfer through libfabric

	onProcesses = onShm | onMixed | onOfi
)

// An ending is how run leaves its PE.
type ending uint8

const (
	returns    ending = iota
	finalizes         // run has called the last Finalize
	exitsWith0        // some PE has called GlobalExit(0); no other's run returns
	exitsWith7
)

func (r *row) runsOn(w where) bool { return r.on == 0 || r.on&w != 0 }

func (r *row) title() string { return r.sec + " " + r.name }

// counts are the numbers of PEs that rows run with: powers of two and others, and more
// than a small machine has cores.
var counts = [...]int{1, 2, 3, 5, 8}

// runCounts returns the numbers of PEs that the row runs with.
func (r *row) runCounts() []int {
	var with []int
	for _, np := range counts {
		if np >= r.np {
			with = append(with, np)
		}
	}
	return with
}

// takes reports whether runs with np PEs are worth their time: to the race detector, with
// which each takes several times as long, three PEs show nothing that five don't.
func takes(np int) bool { return !race.Enabled || np != 3 }

// rows returns the table.
func rows() []row {
	return slices.Concat(
		setupRows(), exitRows(), threadRows(), goroutineRows(), memoryRows(), resizeRows(), teamRows(), contextRows(), sessionRows(),
		putRows(), stridedRows(), vectorRows(), nbiRows(),
		atomicRows(), contentionRows(), beyondRows(), atomicNBIRows(), signalRows(),
		barrierRows(), exchangeRows(), collectRows(), startedRows(), reduceRows(), operatorRows(), scanRows(),
		waitRows(), testRows(), waitWordsRows(), testWordsRows(), lockRows(), futureRows(), refRows(),
		fenceRows(), quietRows(), orderingRows(),
	)
}

var update = flag.Bool("update", false, "write docs/conformance.md")

func TestMain(m *testing.M) {
	if dir := os.Getenv(programEnv); dir != "" {
		os.Exit(program(dir))
	}
	os.Exit(m.Run())
}

// TestConformance runs the table everywhere, and makes what ran where the document.
func TestConformance(t *testing.T) {
	ran := new(coverage)
	t.Run("loop", func(t *testing.T) { runLoop(t, ran) })
	t.Run("domains", func(t *testing.T) { runDomains(t, ran) })
	t.Run("processes", func(t *testing.T) { runProcesses(t, ran) })
	t.Run("document", func(t *testing.T) { checkDocument(t, ran) })
}

func TestTable(t *testing.T) {
	titles := map[string]bool{}
	for _, r := range rows() {
		if titles[r.title()] {
			t.Errorf("two rows are %q", r.title())
		}
		titles[r.title()] = true
		if r.name == "" || r.run == nil || len(r.runCounts()) == 0 {
			t.Errorf("row %q proves nothing", r.title())
		}
		if !r.runsOn(onLoop) && (r.faults != nil || r.without != nil) {
			t.Errorf("row %q has faults, which are loop's, but does not run there", r.title())
		}
	}
}
