// SPDX-License-Identifier: BSD-3-Clause

// Stream measures how fast vectors stream through a PE, with the four kernels of
// McCalpin's STREAM: copy, scale, add and triad.
//
// It teaches what symmetric memory costs. Local gives a PE its own elements as a
// plain slice, so a loop over them is as fast as over any other memory. Ptr gives
// those of a PE in reach, as plain: the same triad over a neighbour's vectors shows
// what distance costs. Where Ptr gives nil the loop gets a block at a time, which
// is what Ptr saves.
//
//	gorun -np 2 stream
//	gorun -np 2 --fabric ofi stream -n 20
package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/internal/yard"
	"github.com/goshmem/goshmem/shmem"
)

func main() { command.Main(run) }

const maxLog = 28

func run(pe *shmem.PE, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("stream", flag.ContinueOnError)
	logElements := flags.Uint("n", 21, "base-two `logarithm` of a vector's elements on each PE")
	times := flags.Int("times", 10, "`runs` of each kernel, of which the fastest counts")
	if err := command.ParseFlags(flags, args, out); err != nil {
		return err
	}
	if *logElements > maxLog || *times < 1 {
		return command.Usagef("-n %d is more than %d, or -times %d is less than 1", *logElements, maxLog, *times)
	}

	v, err := newVectors(pe, 1<<*logElements)
	if err != nil {
		return err
	}
	kernels := v.kernels()
	fastest := make([]float64, len(kernels))
	for i := range *times {
		for k, kernel := range kernels {
			seconds, err := yard.Seconds(pe, kernel.run)
			if err != nil {
				return err
			}
			if i == 0 || seconds < fastest[k] {
				fastest[k] = seconds
			}
		}
	}
	lines := []yard.Line{
		{Key: "Vector", Format: "%d KiB a PE", Value: 8 * v.a.Len() >> 10},
		{Key: "Neighbour", Format: "%s", Value: v.distance()},
	}
	for k, kernel := range kernels {
		bytes := float64(kernel.vectors * 8 * v.a.Len() * pe.NPEs())
		lines = append(lines, yard.Line{Key: kernel.name, Format: "%s MB/s", Value: fmt.Sprintf("%.0f", bytes/fastest[k]/1e6)})
	}
	return yard.Report(pe, out, v.check(*times), lines...)
}
