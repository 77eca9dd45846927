// SPDX-License-Identifier: BSD-3-Clause

//go:build !race

package race

// Enabled reports whether the program is built with the race detector.
const Enabled = false

// Disable hides the calling goroutine's synchronisation from the detector until
// [Enable]. Loads and stores stay visible, except those of go:norace functions;
// atomic ones do not. Releases and acquires have no effect. Pairs nest.
func Disable() {}

// Enable ends what [Disable] began.
func Enable() {}

// Release says that what the caller has done is ordered before what follows an
// [Acquire] of the same word. It adds to earlier releases of it. The word is Go memory; a
// store to it by sync/atomic is a release too.
func Release(*byte) {}

// Acquire says that what was done before the releases of the word so far is
// ordered before what the caller does next.
func Acquire(*byte) {}

// A Token carries order from releasers to acquirers. The zero value is ready.
// It must not be copied, and must not live on a goroutine's stack.
type Token struct{}

// Release orders what the caller has done before later acquirers.
func (*Token) Release() {}

// Acquire orders the releasers so far before what the caller does next.
func (*Token) Acquire() {}

// Tokens stand for the 8-byte words of a mapped segment. Words share tokens:
// that hides an error now and then and never invents one. The zero value is
// ready; see [Token].
type Tokens struct{}

// Release is [Token.Release] for the word that holds offset off.
func (*Tokens) Release(uintptr) {}

// Acquire is [Token.Acquire] for the word that holds offset off.
func (*Tokens) Acquire(uintptr) {}
