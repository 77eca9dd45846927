// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"github.com/goshmem/goshmem/examples/internal/command"
	"github.com/goshmem/goshmem/examples/nas/internal/nas"
	"github.com/goshmem/goshmem/shmem"
)

// The sections that -timers reports.
const (
	timeSetup = iota
	timePlanes
	timeWalls
	timeExchange
	timeChecksum
)

var sections = []string{"Setup", "x and y", "z", "Exchange", "Checksum"}

// A solver evolves a field. In space, each PE has some planes of constant z; of
// the spectrum, some of constant y, so that it has all of the third direction.
// A transform reads the other PEs' planes where they are, as it takes numbers up
// for that direction: the transpose is no work of its own.
type solver struct {
	problem
	pe     *shmem.PE
	loops  loops
	timers *nas.Timers
	sum    *nas.Sum

	planes, walls int                   // this PE's, of constant z and of constant y
	field         []complex128          // [planes][ny][nx]
	spectrum      []complex128          // [walls][nz][nx]
	exchange      shmem.Sym[complex128] // the one or the other, half transformed
	toWalls       *transpose            // of exchange as planes
	toPlanes      *transpose            // of exchange as walls

	x, y, z        *transform
	decayX         []float64 // factors of the spectrum's numbers in a step
	decayY, decayZ []float64
}

// newSolver is collective over all PEs.
func newSolver(pe *shmem.PE, p problem, l loops, timers *nas.Timers) (*solver, error) {
	npes := pe.NPEs()
	if most := min(p.ny, p.nz); npes&(npes-1) != 0 || npes > most {
		return nil, command.Usagef("FT of %d×%d×%d points runs on a power of two of PEs, %d at most, not on %d",
			p.nx, p.ny, p.nz, most, npes)
	}
	s := &solver{problem: p, pe: pe, loops: l, timers: timers, planes: p.nz / npes, walls: p.ny / npes}
	share := p.points() / npes
	s.field, s.spectrum = make([]complex128, share), make([]complex128, share)
	var err error
	if s.exchange, err = shmem.Alloc[complex128](pe, share); err != nil {
		return nil, err
	}
	if s.sum, err = nas.NewSum(pe, 2); err != nil {
		return nil, err
	}
	s.toWalls = newTranspose(pe, s.exchange, p.nz, p.ny, p.nx)
	s.toPlanes = newTranspose(pe, s.exchange, p.ny, p.nz, p.nx)
	return s, nil
}

// prepare sets the field as it is at first, and makes the tables.
func (s *solver) prepare() {
	stream := nas.Random(seed).Skipped(2 * uint64(s.pe.MyPE()*len(s.field)))
	for i := range s.field {
		re := stream.Next()
		s.field[i] = complex(re, stream.Next())
	}
	s.x, s.y, s.z = newTransform(s.nx, s.loops), newTransform(s.ny, s.loops), newTransform(s.nz, s.loops)
	s.decayX, s.decayY, s.decayZ = decay(s.nx), decay(s.ny), decay(s.nz)
	s.timers.Lap(timeSetup)
}

// decay returns the factors exp(-4απ²·k²) for the wave numbers k of one
// direction, which are negative from the middle on.
func decay(n int) []float64 {
	factors := make([]float64, n)
	for i := range factors {
		k := float64((i+n/2)%n - n/2)
		factors[i] = math.Exp(-4 * alpha * math.Pi * math.Pi * k * k)
	}
	return factors
}

// forward makes the spectrum of the field, by transforms in x, y and z. It uses
// the field up.
func (s *solver) forward() {
	s.pe.SyncAll() // nobody reads the exchange any more
	s.timers.Lap(timeExchange)
	for plane := range s.planes {
		field := rowsOf(part(s.field, plane, s.planes), s.nx)
		s.alongX(field)
		half := rowsOf(part(s.exchange.Local(), plane, s.planes), s.nx)
		for x := 0; x < s.nx; x += lanes {
			s.loops.load(s.y.x, field, x)
			s.loops.store(half, s.y.run(), x)
		}
	}
	s.timers.Lap(timePlanes)
	s.pe.SyncAll()
	s.toWalls.fetch()
	s.timers.Lap(timeExchange)
	for wall := range s.walls {
		half := s.toWalls.rows(wall)
		spectrum := rowsOf(part(s.spectrum, wall, s.walls), s.nx)
		for x := 0; x < s.nx; x += lanes {
			s.loops.load(s.z.x, half, x)
			s.loops.store(spectrum, s.z.run(), x)
		}
	}
	s.timers.Lap(timeWalls)
}

// step evolves the spectrum by a step of time, and makes the complex conjugate
// of the field of it, by transforms in z, y and x. The reverse of a transform is
// the transform of the conjugate, conjugated, but for a factor.
func (s *solver) step() {
	s.pe.SyncAll() // nobody reads the exchange any more
	s.timers.Lap(timeExchange)
	for wall := range s.walls {
		spectrum := rowsOf(part(s.spectrum, wall, s.walls), s.nx)
		half := rowsOf(part(s.exchange.Local(), wall, s.walls), s.nx)
		decay := s.decayY[s.pe.MyPE()*s.walls+wall]
		for x := 0; x < s.nx; x += lanes {
			s.loops.evolve(s.z.x, spectrum, x, s.decayX, s.decayZ, decay)
			s.loops.store(half, s.z.run(), x)
		}
	}
	s.timers.Lap(timeWalls)
	s.pe.SyncAll()
	s.toPlanes.fetch()
	s.timers.Lap(timeExchange)
	for plane := range s.planes {
		half := s.toPlanes.rows(plane)
		field := rowsOf(part(s.field, plane, s.planes), s.nx)
		for x := 0; x < s.nx; x += lanes {
			s.loops.load(s.y.x, half, x)
			s.loops.store(field, s.y.run(), x)
		}
		s.alongX(field)
	}
	s.timers.Lap(timePlanes)
}

// alongX transforms the rows of a plane, in place.
func (s *solver) alongX(plane rows) {
	for y := 0; y < len(plane); y += lanes {
		s.loops.loadAcross(s.x.x, plane[y:])
		s.loops.storeAcross(plane[y:], s.x.run())
	}
}

// checksum returns the sum of 1024 of the field's points, over their number.
func (s *solver) checksum() complex128 {
	var sum complex128
	first := s.pe.MyPE() * s.planes
	for j := 1; j <= 1024; j++ {
		x, y, z := j%s.nx, 3*j%s.ny, 5*j%s.nz-first
		if 0 <= z && z < s.planes {
			sum += s.field[(z*s.ny+y)*s.nx+x]
		}
	}
	all := s.sum.Of(real(sum), -imag(sum)) // of the conjugate
	s.timers.Lap(timeChecksum)
	n := float64(s.points())
	return complex(all[0]/n, all[1]/n)
}

// part returns part i of n equal parts of an array.
func part(array []complex128, i, n int) []complex128 {
	size := len(array) / n
	return array[i*size:][:size]
}
