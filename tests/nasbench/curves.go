// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of the drawing, in pixels.
const (
	width, height = 360, 280 // of a class's panel
	left, bottom  = 48, 40   // margins with words in them
	right, top    = 80, 28
)

// A curve is the medians of a kernel, in a class, over the numbers of PEs.
type curve struct {
	name   string
	colour string
	dashed bool
	points [][2]float64 // PEs, speed in that of the first
}

// curves draws, for each class, how the speed grows with the PEs, in SVG: a line a kernel, and a dashed one
// for NPB's, each in its own speed at the first number of PEs.
func curves(samples []sample) string {
	var classes []string
	lines := map[string][]curve{}
	for i, s := range samples {
		begins := i == 0 || samples[i-1].Kernel != s.Kernel || samples[i-1].Class != s.Class
		if len(lines[s.Class]) == 0 {
			classes = append(classes, s.Class)
		}
		if begins {
			colour := kernelColour(s.Kernel)
			lines[s.Class] = append(lines[s.Class],
				curve{strings.ToUpper(s.Kernel), colour, false, nil}, curve{strings.ToUpper(s.Kernel) + " MPI", colour, true, nil})
		}
		pair := lines[s.Class][len(lines[s.Class])-2:]
		for j, speeds := range [...][]float64{s.Ours, s.Peer} {
			if len(speeds) > 0 {
				pair[j].points = append(pair[j].points, [2]float64{float64(s.PEs), median(speeds)})
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", width*max(1, len(classes)), height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, class := range classes {
		fmt.Fprintf(&b, `<g transform="translate(%d,0)">`+"\n", i*width)
		panel(&b, class, lines[class])
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func kernelColour(kernel string) string {
	colours := [...]string{"#4477aa", "#ee6677", "#228833", "#aa3377", "#997700"}
	for i, k := range known {
		if k == kernel {
			return colours[i]
		}
	}
	return "black"
}

// panel draws the curves of a class. Both axes are logarithmic, to the base 2.
func panel(b *strings.Builder, class string, lines []curve) {
	loX, hiX, loY, hiY := math.Inf(1), 1.0, 1.0, 1.0
	for i := range lines {
		for j := range lines[i].points {
			p := &lines[i].points[j]
			if j > 0 {
				p[1] /= lines[i].points[0][1]
			}
			loX, hiX = min(loX, p[0]), max(hiX, p[0])
		}
		if len(lines[i].points) > 0 {
			lines[i].points[0][1] = 1
		}
		for _, p := range lines[i].points {
			loY, hiY = min(loY, p[1]), max(hiY, p[1])
		}
	}
	loY, hiY = math.Exp2(math.Floor(math.Log2(loY))), math.Exp2(math.Ceil(math.Log2(hiY)))
	x := func(v float64) float64 {
		return left + math.Log2(v/loX)/max(1, math.Log2(hiX/loX))*(width-left-right)
	}
	y := func(v float64) float64 {
		return height - bottom - math.Log2(v/loY)/max(1, math.Log2(hiY/loY))*(height-top-bottom)
	}
	fmt.Fprintf(b, `<text x="%d" y="16">class %s: speed, in that of the fewest PEs</text>`+"\n", left, class)
	for v := loY; v <= hiY; v *= 2 {
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", left, y(v), width-right, left-6, y(v)+4, v)
	}
	for v := loX; v <= hiX; v *= 2 {
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x(v), top, height-bottom, x(v), height-bottom+16, v)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">PEs</text>`+"\n", (left+width-right)/2, height-6)
	row := 0
	for _, l := range lines {
		if len(l.points) == 0 {
			continue
		}
		dash := ""
		if l.dashed {
			dash = ` stroke-dasharray="5 3"`
		}
		var points []string
		for _, p := range l.points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(p[0]), y(p[1])))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", strings.Join(points, " "), l.colour, dash)
		at := top + 8 + 16*row
		fmt.Fprintf(b, `<path d="M%d %dh16" stroke="%s" stroke-width="1.5"%s/><text x="%d" y="%d">%s</text>`+"\n", width-right+8, at, l.colour, dash, width-right+28, at+4, l.name)
		row++
	}
}
