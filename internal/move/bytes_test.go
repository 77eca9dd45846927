// SPDX-License-Identifier: BSD-3-Clause

package move_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goshmem/goshmem/internal/move"
)

func TestBytes_CopiesAllAndNoMore(t *testing.T) {
	const room = 64
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 4 << 10, 32<<10 - 1, 32 << 10, 64<<10 + 3, 768 << 10, 768<<10 + 1, 2 << 20} {
		src := make([]byte, n+room)
		for i := range src {
			src[i] = byte(random.Uint32())
		}
		for _, at := range [][2]int{{0, 0}, {0, 13}, {13, 0}, {5, 31}} {
			dst := make([]byte, n+room)
			want := bytes.Clone(dst)
			copy(want[at[0]:], src[at[1]:at[1]+n])
			move.Bytes(dst[at[0]:at[0]+n], src[at[1]:at[1]+n])
			if !bytes.Equal(dst, want) {
				t.Errorf("%d bytes, %d bytes into the destination from %d bytes into the source: not copied as by copy", n, at[0], at[1])
			}
		}
	}
}

func TestBytes_StaysWithinAShortDestination(t *testing.T) {
	const n = 64 << 10
	dst := make([]byte, n)
	short := dst[: n-1 : n-1]
	move.Bytes(short, bytes.Repeat([]byte{1}, n))
	if dst[n-1] != 0 {
		t.Error("a byte behind the destination was written")
	}
}

func BenchmarkBytes(b *testing.B) {
	for _, n := range []int{16 << 10, 32 << 10, 64 << 10, 256 << 10, 768 << 10} {
		dst, src := make([]byte, n), make([]byte, n)
		b.Run(fmt.Sprintf("move/%dKiB", n>>10), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				move.Bytes(dst, src)
			}
		})
		b.Run(fmt.Sprintf("copy/%dKiB", n>>10), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				copy(dst, src)
			}
		})
	}
}
