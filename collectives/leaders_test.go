// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"slices"
	"testing"

	"github.com/goshmem/goshmem/symheap"
)

func TestLeadersOf(t *testing.T) {
	all, twos, uneven := symheap.All(6), []int{0, 2, 4}, []int{0, 1, 5}
	for _, tt := range []struct {
		name  string
		team  symheap.Members
		nodes []int
		want  []int
	}{
		{"all", all, twos, []int{0, 2, 4}},
		{"nodes of different sizes", all, uneven, []int{0, 1, 5}},
		{"nothing known", all, nil, nil},
		{"one node", all, []int{0}, nil},
		{"a node each", all, []int{0, 1, 2, 3, 4, 5}, nil},
		{"backwards", all.Strided(5, -1, 6), uneven, []int{0, 1, 5}},
		{"every other", all.Strided(0, 2, 3), []int{0, 3}, []int{0, 2}},
		{"a node each of a team", all.Strided(0, 2, 3), twos, nil},
		{"on one node of several", all.Strided(1, 1, 4), uneven, nil},
		{"a node left out", symheap.Listed([]int{0, 1, 5}), twos, []int{0, 2}},
		{"nodes in another order", symheap.Listed([]int{4, 5, 0, 1, 3}), twos, []int{0, 2, 4}},
		{"a node in two parts", symheap.Listed([]int{0, 2, 1, 3}), twos, nil},
		{"at different distances", symheap.Listed([]int{0, 1, 3, 4, 5}), []int{0, 4}, nil},
	} {
		for me := range tt.team.NPEs() {
			first, node := leadersOf(tt.team, tt.nodes, me)
			if !slices.Equal(first, tt.want) {
				t.Errorf("%s, member %d: leaders are members %v, want %v", tt.name, me, first, tt.want)
				continue
			}
			end := tt.team.NPEs()
			if node+1 < len(first) {
				end = first[node+1]
			}
			if first != nil && (me < first[node] || me >= end) {
				t.Errorf("%s, member %d: on node %d of leaders %v", tt.name, me, node, first)
			}
		}
	}
}
