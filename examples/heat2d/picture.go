// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"

	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

const shades = 256

// draw gets the plate from all PEs, which take no part in it, and writes a
// picture of it to a file.
func (p *plate) draw(name string) error {
	picture := image.NewPaletted(image.Rect(0, 0, p.n, p.n), palette())
	row := make([]float64, p.n)
	for pe := range p.pe.NPEs() {
		lo, hi := yard.Share(p.n, pe, p.pe.NPEs())
		for y := lo; y < hi; y++ {
			at := (y - lo + 1) * p.n
			shmem.Get(row, p.cells[p.step%2].Slice(at, at+p.n), pe)
			for x, c := range row {
				picture.Pix[y*picture.Stride+x] = shade(c)
			}
		}
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := png.Encode(file, picture); err != nil {
		_ = file.Close() // the first error counts
		return err
	}
	return file.Close()
}

// shade returns a temperature's colour in the palette.
func shade(c float64) uint8 {
	return uint8(math.Round(min(max(c/hottest, 0), 1) * (shades - 1)))
}

// palette returns the colours of a glowing body: from black by red and yellow
// to white, each third of the way brighter in one of the primary colours.
func palette() color.Palette {
	glow := make(color.Palette, shades)
	for i := range glow {
		part := func(third int) uint8 { return uint8(min(max(3*i-third*(shades-1), 0), shades-1)) }
		glow[i] = color.RGBA{part(0), part(1), part(2), 0xFF}
	}
	return glow
}
