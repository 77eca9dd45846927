// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

import "slices"

// Rows returns the names of the rows that a provider has to pass: by near whether its PEs
// reach each other's memory, by direct whether they may store there.
func Rows(near, direct bool) []string {
	rows := []string{
		"put: copies every size between all alignments and nothing else",
		"get: copies every size between all alignments and nothing else",
		"put: src may be reused on return",
		"put, get: zero length is a no-op, also at the segment's end",
		"nbi: puts, gets and fetches are complete after quiet",
		"strided: block by block, gaps untouched",
		"vectored: part by part, of all sizes, and nothing else",
		"put word: stores each size and leaves its neighbours",
		"put word: is never torn",
		"put words: stores them all, each untorn, and nothing else",
		"note: all of it comes, and nothing else does",
		"atomic: every native operation on every type does what Apply says",
		"atomic: what does not apply is refused",
		"atomic: four PEs add to one word and none is lost",
		"atomic: small words that share a word do not disturb each other",
		"atomic: fetched sums are all different",
		"atomic: of several compare-and-swaps one wins",
		"fence: orders a put before a word",
		"fence: orders a put before an atomic",
		"fence: orders a non-blocking put before a word",
		"fence: orders a put before a fetching atomic",
		"fence: the last of several words stays",
		"quiet: completes puts so that a third PE sees them",
		"quiet: completes words and atomics",
		"quiet: is not starved by a busy neighbour on its endpoint",
		"quiet: is not starved by a busy neighbour on another endpoint",
		"put signal: the signal never shows before its data",
		"put signal: without data it is a signal",
		"quiet pes: completes puts so that a third PE sees them",
		"quiet pes: completes words and atomics",
		"quiet pes: puts, gets and fetches that do not wait are complete after it",
		"quiet pes: is not starved by a busy neighbour on its endpoint",
		"quiet pes: of none waits for nobody",
		"wait: every comparison at every width reads its own bytes alone",
		"wait: a condition that holds returns at once",
		"wait: a word put ends it",
		"wait: an atomic ends it",
		"wait: a fetching atomic ends it",
		"wait: a put and a quiet end it",
		"wait: a signal ends it",
		"wait: an own goroutine's store and wake end it",
		"wait: a near PE's store and wake end it",
		"wait: a wake of all near PEs ends it",
		"wait: a bare store ends it in the end",
		"wait: a near PE's word can be waited for",
		"wait: sleepers are seen by near PEs",
		"wait: shows what was visible before the update",
		"wait: a thousand goroutines of one PE",
		"wait any: every comparison at every width reads its own bytes alone",
		"wait any: a set that holds returns at once",
		"wait any: whichever word changes ends it",
		"wait any: each word has its own value",
		"wait any: skipped words do not end it",
		"wait any: a stop and a wake end it",
		"wait any: shows what was visible before the update",
		"wait any: a thousand goroutines of one PE",
		"look: every comparison at every width reads its own bytes alone",
		"look: shows what was visible before the update",
		"endpoint: many goroutines use one at once",
		"endpoint: many goroutines use one each at once",
		"endpoint: close completes what is outstanding",
		"abort: ends present and future waits of all PEs",
		"close: segments stay mapped",
		"batch: puts of every size between all alignments and nothing else",
		"batch: src may be reused on return",
		"batch: words of each size leave their neighbours",
		"batch: words are never torn",
		"batch: every native operation on every type does what Apply says",
		"batch: four PEs add to one word and none is lost",
		"batch: fence orders a put before a word",
		"batch: fence orders a put before an atomic",
		"batch: quiet completes puts so that a third PE sees them",
		"batch: quiet completes words and atomics",
		"batch: quiet pes completes words and atomics",
		"batch: many goroutines use one endpoint at once",
		"batch: leaves by itself",
		"batch: leaves when it is closed",
		"batch: leaves when the PE waits",
		"batch: leaves when the PE waits for one of several words",
		"batch: leaves when the PE gets",
		"batch: leaves when the PE fetches",
		"batch: leaves when its endpoint is closed",
	}
	return slices.DeleteFunc(rows, func(name string) bool {
		switch name {
		case "wait: a near PE's word can be waited for",
			"wait: sleepers are seen by near PEs":
			return !near
		case "wait: a near PE's store and wake end it",
			"wait: a wake of all near PEs ends it",
			"wait: a bare store ends it in the end":
			return !direct
		}
		return false
	})
}
