// SPDX-License-Identifier: BSD-3-Clause

// Heat2d lets heat spread in an insulated square plate, and draws it.
//
// It teaches to overlap. In each step a PE first puts its outer rows in its
// neighbours' memory, computes the inner rows while they travel, and only then
// waits for its neighbours' and computes the outer ones. Whether the plate has
// become even is found by a MaxReduceAsync, which runs while the next steps are
// taken: the answer comes ten steps late, and costs no waiting.
//
//	gorun -np 4 heat2d -n 400 -steps 2000 -o heat.png
package main

import (
	"flag"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("heat2d", flag.ContinueOnError)
	n := flags.Int("n", 400, "`cells` of an edge of the plate")
	steps := flags.Int("steps", 1000, "`steps`, at most")
	even := flags.Float64("even", 0.01, "end when no cell changes by more `degrees` in a step")
	file := flags.String("o", "", "`file` to write a picture of the plate to, in the PNG format")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *n < 2 || *n > 1<<14 || *steps < 1 {
		return command.Usagef("-n %d is not in [2, 16384], or -steps %d is less than 1", *n, *steps)
	}
	if *n < pe.NPEs() {
		return command.Usagef("%d PEs are more than -n %d has rows", pe.NPEs(), *n)
	}

	p, err := newPlate(pe, *n)
	if err != nil {
		return err
	}
	before, err := yard.Sum(pe, p.heat())
	if err != nil {
		return err
	}
	taken := 0
	seconds, err := yard.Seconds(pe, func() { taken = p.spread(*steps, *even) })
	if err != nil {
		return err
	}
	after, err := yard.Sum(pe, p.heat())
	if err != nil {
		return err
	}
	if *file != "" && pe.MyPE() == 0 {
		if err := p.draw(*file); err != nil {
			return err
		}
	}
	return yard.Report(pe, out, p.check(before, after),
		yard.Line{Key: "Cells", Format: "%d", Value: *n * *n},
		yard.Line{Key: "Steps", Format: "%d", Value: taken},
		yard.Line{Key: "Seconds", Format: "%.4f", Value: seconds},
		yard.Line{Key: "Million cells/s", Format: "%.1f", Value: float64(*n) * float64(*n) * float64(taken) / seconds / 1e6},
		yard.Line{Key: "Heat before", Format: "%.6f", Value: before},
		yard.Line{Key: "Heat after", Format: "%.6f", Value: after},
	)
}
