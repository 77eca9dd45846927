// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"slices"
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

// Lap ends a section, the i-th of those named, and begins the next.
func (t *Timers) Lap(i int) {
	if t.on {
		now := time.Now()
		t.spent[i] += now.Sub(t.last)
		t.last = now
	}
}

// Time returns how long the slowest PE takes for f, in seconds, and if the timers
// are on, how long for each section. All PEs begin together. It is collective
// over all PEs.
func (t *Timers) Time(pe *shmem.PE, f func() error) (seconds float64, sections []Section, err error) {
	pe.BarrierAll()
	start := time.Now()
	if t.on {
		clear(t.spent)
		t.last = start
	}
	if err := f(); err != nil {
		return 0, nil, err
	}
	all, err := slowest(pe, append([]time.Duration{time.Since(start)}, t.spent...)...)
	if err != nil {
		return 0, nil, err
	}
	if t.on {
		for i, s := range all[1:] {
			sections = append(sections, Section{t.names[i], s})
		}
	}
	return all[0], sections, nil
}

// slowest returns for each of these durations the largest that a PE measured,
// in seconds. It is collective over all PEs, which measure the same things.
func slowest(pe *shmem.PE, spent ...time.Duration) ([]float64, error) {
	x, err := shmem.Alloc[float64](pe, len(spent))
	if err != nil {
		return nil, err
	}
	for i, d := range spent {
		x.Local()[i] = d.Seconds()
	}
	shmem.MaxReduce(pe.World(), x, x)
	seconds := slices.Clone(x.Local())
	shmem.Free(x)
	return seconds, nil
}
