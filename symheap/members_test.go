// SPDX-License-Identifier: BSD-3-Clause

package symheap_test

import (
	"slices"
	"testing"

	"github.com/goshmem/goshmem/symheap"
)

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		name string
		got  symheap.Members
		want []int
	}{
		{"the world", symheap.All(4), []int{0, 1, 2, 3}},
		{"a stride", symheap.All(6).Strided(0, 2, 3), []int{0, 2, 4}},
		{"a stride of a stride", symheap.All(6).Strided(0, 2, 3).Strided(0, 2, 2), []int{0, 4}},
		{"backwards", symheap.All(6).Strided(5, -2, 3), []int{5, 3, 1}},
		{"backwards again", symheap.All(6).Strided(5, -2, 3).Strided(2, -1, 3), []int{1, 3, 5}},
		{"one", symheap.All(6).Strided(3, 0, 1), []int{3}},
		{"a list", symheap.Listed([]int{4, 0, 1}), []int{4, 0, 1}},
		{"a stride of a list", symheap.Listed([]int{4, 0, 1, 7}).Strided(3, -2, 2), []int{7, 0}},
		{"a sequence as a list", symheap.Listed([]int{9, 6, 3}), []int{9, 6, 3}},
		{"nobody", symheap.Listed(nil), nil},
	} {
		var got []int
		for i := range c.got.NPEs() {
			got = append(got, c.got.World(i))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		for pe := -1; pe < 12; pe++ {
			if got, want := c.got.Index(pe), slices.Index(c.want, pe); got != want {
				t.Errorf("%s: PE %d of the world is member %d, want %d", c.name, pe, got, want)
			}
		}
	}
}
