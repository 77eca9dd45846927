// SPDX-License-Identifier: BSD-3-Clause

package main

import "fmt"

// marked returns word i of PE pe's pattern of this stamp. Every figure has a
// stamp of its own, so what an earlier one left behind is never right.
func marked(stamp uint64, pe, i int) uint64 {
	return stamp<<48 ^ uint64(pe)<<24 ^ uint64(i)
}

// mark fills words with a pattern.
func mark(words []uint64, stamp uint64, pe int) {
	for i := range words {
		words[i] = marked(stamp, pe, i)
	}
}

// checkMarked looks whether every stride-th of words is as the words of a
// pattern that start at its word first.
func checkMarked(what string, words []uint64, stride int, stamp uint64, pe, first int) error {
	for i := 0; i < len(words); i += stride {
		if want := marked(stamp, pe, first+i); words[i] != want {
			return fmt.Errorf("%s: word %d is %#x, want %#x", what, i, words[i], want)
		}
	}
	return nil
}
