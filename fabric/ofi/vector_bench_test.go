// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"fmt"
	"testing"

	"github.com/goshmem/goshmem/fabric"
)

// BenchmarkRanges pairs transfers of many ranges with as many transfers of one.
func BenchmarkRanges(b *testing.B) {
	p := startPeer(b, Options{Provider: "tcp;ofi_rxm"}, "wait")
	defer p.release(b)
	e := endpoint(b, p.domain)
	local := make([]byte, 64<<10)
	for _, n := range []int{4, 64} {
		parts := make([]fabric.Part, n)
		for i := range parts {
			parts[i] = fabric.Part{Off: fabric.Addr(i * 200), Data: local[i*300:][:64]}
		}
		one := func(f func(fabric.Part) error) func() error {
			return func() error {
				for _, part := range parts {
					if err := f(part); err != nil {
						return err
					}
				}
				return e.Quiet()
			}
		}
		quiet := func(err error) error {
			if err != nil {
				return err
			}
			return e.Quiet()
		}
		s := fabric.Strides{Block: 8, Blocks: 16 * n, Dst: 24, Src: 16}
		touching := fabric.Strides{Block: 8, Blocks: 16 * n, Dst: 8, Src: 16}
		for _, c := range []struct {
			name string
			f    func() error
		}{
			{"putv", func() error { return quiet(e.PutV(1, parts)) }},
			{"put", one(func(p fabric.Part) error { return e.Put(1, p.Off, p.Data) })},
			{"getv", func() error { return e.GetV(1, parts) }},
			{"get_nbi", one(func(p fabric.Part) error { return e.GetNBI(1, p.Data, p.Off) })},
			{"iput", func() error { return quiet(e.PutStrided(1, 0, local, s)) }},
			{"iput_touching", func() error { return quiet(e.PutStrided(1, 0, local, touching)) }},
			{"iget", func() error { return e.GetStrided(1, local, 0, s) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				before := p.domain.Stats()
				for b.Loop() {
					if err := c.f(); err != nil {
						b.Fatal(err)
					}
				}
				after := minus(p.domain.Stats(), before)
				b.ReportMetric(float64(after.Writes+after.Reads)/float64(b.N), "messages/op")
			})
		}
	}
}
