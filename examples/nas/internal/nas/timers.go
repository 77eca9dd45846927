// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// Timers splits one PE's time into named sections, from one call of Lap to the
// next. The zero value is ready and off; it costs a branch a call.
type Timers struct {
	on    bool
	last  time.Time
	names []string
	spent []time.Duration
}

// NewTimers returns timers for sections of these names. They do nothing unless on.
func NewTimers(on bool, names ...string) *Timers {
	return &Timers{on: on, names: names, spent: make([]time.Duration, len(names))}
}

// Start begins the first section and forgets what was measured before.
func (t *Timers) Start() {
	if t.on {
		clear(t.spent)
		t.last = time.Now()
	}
}

// Lap ends a section, the i-th of those named, and begins the next.
func (t *Timers) Lap(i int) {
	if t.on {
		now := time.Now()
		t.spent[i] += now.Sub(t.last)
		t.last = now
	}
}

// Sections returns the sections with the slowest PE's time in each, or nothing
// if the timers are off. It is collective over all PEs.
func (t *Timers) Sections(pe *shmem.PE) ([]Section, error) {
	if !t.on {
		return nil, nil
	}
	slowest, err := Slowest(pe, t.spent...)
	if err != nil {
		return nil, err
	}
	sections := make([]Section, len(slowest))
	for i, s := range slowest {
		sections[i] = Section{t.names[i], s}
	}
	return sections, nil
}

// Slowest returns for each of these durations the largest that a PE measured,
// in seconds. It is collective over all PEs, which measure the same things.
func Slowest(pe *shmem.PE, spent ...time.Duration) ([]float64, error) {
	n := len(spent)
	mine, err := shmem.Alloc[float64](pe, n)
	if err != nil {
		return nil, err
	}
	all, err := shmem.Alloc[float64](pe, n*pe.NPEs())
	if err != nil {
		return nil, err
	}
	for i, d := range spent {
		mine.Local()[i] = d.Seconds()
	}
	shmem.FCollect(pe.World(), all, mine)

	slowest := make([]float64, n)
	for i, s := range all.Local() {
		slowest[i%n] = max(slowest[i%n], s)
	}
	shmem.Free(all)
	shmem.Free(mine)
	return slowest, nil
}
