// SPDX-License-Identifier: BSD-3-Clause

//go:build race

package race

import (
	"runtime"
	"unsafe"
)

// Enabled reports whether the program is built with the race detector.
const Enabled = true

// Disable hides the calling goroutine's synchronisation from the detector until
// [Enable]. Loads and stores stay visible, except those of go:norace functions;
// atomic ones do not. Releases and acquires have no effect. Pairs nest.
func Disable() { runtime.RaceDisable() }

// Enable ends what [Disable] began.
func Enable() { runtime.RaceEnable() }

// Release says that what the caller has done is ordered before what follows an
// [Acquire] of the same word. It adds to earlier releases of it. The word is Go memory; a
// store to it by sync/atomic is a release too.
func Release(word *byte) {
	// Alive and in bounds: word is a Go pointer; only its address is used.
	runtime.RaceReleaseMerge(unsafe.Pointer(word))
}

// Acquire says that what was done before the releases of the word so far is
// ordered before what the caller does next.
func Acquire(word *byte) {
	// Alive and in bounds: word is a Go pointer; only its address is used.
	runtime.RaceAcquire(unsafe.Pointer(word))
}

// A Token carries order from releasers to acquirers. The zero value is ready.
// It must not be copied, and must not live on a goroutine's stack.
type Token struct{ word [8]byte }

// Release orders what the caller has done before later acquirers.
func (t *Token) Release() { Release(&t.word[0]) }

// Acquire orders the releasers so far before what the caller does next.
func (t *Token) Acquire() { Acquire(&t.word[0]) }

// Tokens stand for the 8-byte words of a mapped segment. Words share tokens:
// that hides an error now and then and never invents one. The zero value is
// ready; see [Token].
type Tokens struct{ tokens [tokenCount]Token }

const tokenCount = 1 << 12

// Release is [Token.Release] for the word that holds offset off.
func (t *Tokens) Release(off uintptr) { t.tokens[tokenOf(off)].Release() }

// Acquire is [Token.Acquire] for the word that holds offset off.
func (t *Tokens) Acquire(off uintptr) { t.tokens[tokenOf(off)].Acquire() }

// tokenOf spreads words by Fibonacci hashing: strides of a power of two, which
// arrays of structures have, do not fall on few tokens.
func tokenOf(off uintptr) uint64 {
	return uint64(off/8) * 0x9e3779b97f4a7c15 >> (64 - 12)
}
