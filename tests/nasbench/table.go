// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"
	"strings"
)

// table returns the samples in Markdown. × is goshmem's speed in that of NPB; "of the first" is the
// speed in that of the kernel's and class's first number of PEs that was measured.
func table(samples []sample, rounds int, beside bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Mop/s, medians of %d rounds.\n\n", rounds)
	head, rule := "| kernel | class | np | goshmem | best | of the first |", "|---|---|---|---|---|---|"
	if beside {
		head, rule = head+" NPB-MPI | best | × | × of bests |", rule+"---|---|---|---|"
	}
	fmt.Fprintf(&b, "%s\n%s\n", head, rule)
	var first float64
	for i, s := range samples {
		if i == 0 || samples[i-1].Kernel != s.Kernel || samples[i-1].Class != s.Class {
			first = 0
		}
		if s.Refused != "" {
			fmt.Fprintf(&b, "| %s | %s | %d | refused | | |", strings.ToUpper(s.Kernel), s.Class, s.PEs)
			if beside {
				b.WriteString(" | | | |")
			}
			b.WriteByte('\n')
			continue
		}
		ours := median(s.Ours)
		if first == 0 {
			first = ours
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.0f | %.0f | %.2f |", strings.ToUpper(s.Kernel), s.Class, s.PEs, ours, slices.Max(s.Ours), ours/first)
		switch {
		case beside && len(s.Peer) == 0:
			b.WriteString(" too slow | | | |")
		case beside:
			peer, best := median(s.Peer), slices.Max(s.Peer)
			fmt.Fprintf(&b, " %.0f | %.0f | %.2f | %.2f |", peer, best, ours/peer, slices.Max(s.Ours)/best)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// median returns the middle one of values, of which there is one at least, or the mean of the two.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
