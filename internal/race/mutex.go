// SPDX-License-Identifier: BSD-3-Clause

package race

import "sync"

// A Mutex is a sync.Mutex that orders nothing as far as the race detector
// knows. What it guards is touched in go:norace functions, or is the user's
// memory. The zero value is unlocked; a Mutex must not be copied.
type Mutex struct{ mu sync.Mutex }

// Lock locks m.
func (m *Mutex) Lock() {
	Disable()
	m.mu.Lock()
	Enable()
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	Disable()
	m.mu.Unlock()
	Enable()
}
