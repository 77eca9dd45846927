// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// Main runs the program on this process's PE and does not return. When run
// returns nil it finalizes and exits with status 0; when run returns an error it
// prints "PE 3: …" and exits with 1, which ends the job; a panic leaves Go's stack,
// headed by the PE's number, and status 2.
//
// Under gorun the process is one PE of many; alone it is the only one.
func Main(run func(*PE) error) {
	pe, err := Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(pe.run(run))
}

// run returns the exit status of run and Finalize.
func (pe *PE) run(run func(*PE) error) int {
	returned := false
	defer func() {
		if !returned { // a panic or Goexit passes through: say whose it is and let it
			fmt.Fprintf(os.Stderr, "PE %d: panic in the program:\n", pe.me)
		}
	}()
	err := run(pe)
	if err == nil {
		err = pe.Finalize()
	}
	returned = true
	if err != nil {
		fmt.Fprintf(os.Stderr, "PE %d: %v\n", pe.me, err)
		return 1
	}
	return 0
}

// process is the one PE of this process, counted as OpenSHMEM 1.6 asks, so
// that two libraries in a program may both call Init: the only package-level
// state of the runtime.
var process struct {
	sync.Mutex
	pe     *PE
	count  int // calls of Init without Finalize
	client *pmi.Client
}

// Init makes this process a PE of the job that it was started in, or the only
// PE of its own. It returns once every PE has called it. Further calls return the
// same PE; each needs its own Finalize.
//
// The error says what the environment refuses and what to do about it: memory,
// a launcher that can't be talked to, a bad SHMEM_SYMMETRIC_SIZE. OpenSHMEM 1.6,
// 9.1.1 (shmem_init) and 9.2.1 (shmem_init_thread, always with
// SHMEM_THREAD_MULTIPLE).
func Init() (*PE, error) {
	process.Lock()
	defer process.Unlock()
	if process.count > 0 {
		process.count++
		return process.pe, nil
	}
	vars := env.New(os.LookupEnv)
	if vars.IsSet(env.Version) {
		fmt.Fprintln(os.Stderr, "goshmem", Version)
	}
	client, err := pmi.FromEnv()
	if err != nil {
		return nil, fmt.Errorf("shmem: Init: %w", err)
	}
	h, err := openHost(client, vars)
	if err == nil {
		h.Algorithms, _, _ = vars.Lookup(env.Collectives)
		h.Exit = func(code int, message string) { exitJob(client, code, message) }
		process.pe, err = Attach(h)
	}
	if err != nil {
		err = fmt.Errorf("shmem: Init: %w", err)
		if client != nil {
			err = errors.Join(err, client.Abort(1, err.Error()))
		}
		return nil, err
	}
	if vars.IsSet(env.Info) && process.pe.me == 0 {
		if err := vars.Print(os.Stderr); err != nil {
			return nil, err
		}
	}
	process.client, process.count = client, 1
	return process.pe, nil
}

// Initialized reports whether this process has called Init and not yet its
// last Finalize. OpenSHMEM 1.6, 9.1.5 (shmem_query_initialized).
func Initialized() bool {
	process.Lock()
	defer process.Unlock()
	return process.count > 0
}

// Finalize ends what one Init began. All but the last are barriers; the last also
// completes all operations, waits for all PEs, and tells the launcher that
// leaving is no failure now. The process goes on.
//
// The error says that the PEs did not end together. The last Finalize panics if a
// [Collective] has not been waited for. OpenSHMEM 1.6, 9.1.4
// (shmem_finalize).
func (pe *PE) Finalize() error {
	process.Lock()
	if process.pe != pe || process.count == 0 {
		process.Unlock() // before the barrier: other PEs of Attach's may be in this process
		return pe.Detach()
	}
	defer process.Unlock()
	process.count--
	if process.count > 0 {
		pe.BarrierAll()
		return nil
	}
	process.pe = nil
	if err := pe.Detach(); err != nil {
		return err
	}
	if process.client == nil {
		return nil
	}
	return process.client.Finalize()
}

// exitJob ends the job and the process.
func exitJob(client *pmi.Client, code int, message string) {
	if client != nil {
		if err := client.Abort(code, message); err != nil {
			fmt.Fprintln(os.Stderr, "shmem:", err)
		}
	}
	os.Exit(code)
}
