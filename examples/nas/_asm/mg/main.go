// SPDX-License-Identifier: BSD-3-Clause

// Mg generates the assembly of examples/nas/mg. What the functions do is said
// there, by their twins in Go, whose bits they give.
package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/goshmem/goshmem/examples/nas/_asm/vector"
)

// lane is the gap between two rows' interiors, in bytes.
const lane = 64

func main() {
	vector.Main("vectors", func(ctx *build.Context) {
		vector.Both(ctx, func(a *vector.Assembler) {
			residual(a)
			smooth(a)
			restrict(a)
			prolong(a)
		})
	})
}

// rows are the nine rows around one, by their places in three planes.
type rows struct {
	*vector.Assembler
	plane [3]reg.Register // where row y−1 of each plane begins
	index [3]reg.Register // from there to the present place in rows y−1, y, y+1
}

// newRows returns the rows from the pointer around on, and the distances in bytes
// between rows and between planes. The indices are not set.
func newRows(a *vector.Assembler) (s rows, row reg.Register) {
	s.Assembler = a
	row = a.Arg("row")
	plane := a.Arg("plane")
	a.SHLQ(operand.U8(3), row)
	a.SHLQ(operand.U8(3), plane)
	s.plane[0] = a.Arg("around")
	for i := range s.index {
		s.index[i] = a.GP64()
		if i > 0 {
			s.plane[i] = a.GP64()
			a.LEAQ(operand.Mem{Base: s.plane[i-1], Index: plane, Scale: 1}, s.plane[i])
		}
	}
	return s, row
}

// at is offset bytes from the present place in row y+j−1 of plane z+k−1.
func (s *rows) at(j, k, offset int) operand.Mem {
	return operand.Mem{Base: s.plane[k], Index: s.index[j], Scale: 1, Disp: offset}
}

// faces returns the sum of the four rows across a face.
func (s *rows) faces(offset int) reg.VecVirtual {
	a := s.Add(s.at(1, 2, offset), s.Vector(s.at(1, 0, offset)))
	b := s.Add(s.at(2, 1, offset), s.Vector(s.at(0, 1, offset)))
	return s.Add(b, a)
}

// edges returns the sum of the four rows across an edge.
func (s *rows) edges(offset int) reg.VecVirtual {
	a := s.Add(s.at(0, 2, offset), s.Vector(s.at(0, 0, offset)))
	b := s.Add(s.at(2, 2, offset), s.Vector(s.at(2, 0, offset)))
	return s.Add(b, a)
}

// walk goes through the vectors of all rows, whose number is the argument rows,
// of n numbers. start is called at the beginning of each row, next for each
// vector, with the indices there.
func (s *rows) walk(name string, row reg.Register, start, next func()) {
	count, n, end := s.Arg("rows"), s.Arg("n"), s.GP64()
	s.XORQ(s.index[0], s.index[0])
	s.MOVQ(row, s.index[1])
	s.LEAQ(operand.Mem{Base: row, Index: row, Scale: 1}, s.index[2])
	s.Label(name + "Row")
	s.LEAQ(operand.Mem{Base: s.index[0], Index: n, Scale: 8}, end)
	start()
	s.Label(name + "Vector")
	next()
	for _, i := range s.index {
		s.ADDQ(operand.I32(s.Size()), i)
	}
	s.CMPQ(s.index[0], end)
	s.JNE(operand.LabelRef(name + "Vector"))
	for _, i := range s.index {
		s.ADDQ(operand.I32(lane), i)
	}
	s.DECQ(count)
	s.JNE(operand.LabelRef(name + "Row"))
	s.Return()
}

func residual(a *vector.Assembler) {
	a.Function("residual", "func(r, v, around *float64, row, plane, n, rows int, w *[4]float64)",
		"is residualRow for rows of n numbers, which lie row apart in all grids.",
		"Around is beside the first point of the first row, in row y−1 of plane z−1.")
	s, row := newRows(a)
	r, v := a.Arg("r"), a.Arg("v")
	w := a.Arg("w")
	w0 := a.Broadcast(operand.Mem{Base: w})
	w2 := a.Broadcast(operand.Mem{Base: w, Disp: 16})
	w3 := a.Broadcast(operand.Mem{Base: w, Disp: 24})
	var faces, edges [2]reg.VecVirtual // of the last vector and the present one
	for i := range faces {
		faces[i], edges[i] = a.New(), a.New()
	}
	s.walk("residual", row, func() {
		for i := range faces {
			offset := (i - 1) * a.Size()
			a.VMOVAPD(s.faces(offset), faces[i])
			a.VMOVAPD(s.edges(offset), edges[i])
		}
	}, func() {
		place := operand.Mem{Base: v, Index: s.index[0], Scale: 1}
		sum := a.Add(place, a.Mul(s.at(1, 1, 0), w0))
		facesNext, edgesNext := s.faces(a.Size()), s.edges(a.Size())
		beside := a.Add(a.FromRight(faces[1], facesNext), a.FromLeft(faces[0], faces[1]))
		sum = a.Add(a.Mul(a.Add(beside, edges[1]), w2), sum)
		beside = a.Add(a.FromRight(edges[1], edgesNext), a.FromLeft(edges[0], edges[1]))
		sum = a.Add(a.Mul(beside, w3), sum)
		a.VMOVUPD(sum, operand.Mem{Base: r, Index: s.index[0], Scale: 1})
		a.VMOVAPD(faces[1], faces[0])
		a.VMOVAPD(edges[1], edges[0])
		a.VMOVAPD(facesNext, faces[1])
		a.VMOVAPD(edgesNext, edges[1])
	})
}

func smooth(a *vector.Assembler) {
	a.Function("smooth", "func(u, around *float64, row, plane, n, rows int, w *[4]float64)",
		"is smoothRow for rows of n numbers, which lie row apart in both grids.",
		"Around is beside the first point of the first row, in row y−1 of plane z−1.")
	s, row := newRows(a)
	u := a.Arg("u")
	w := a.Arg("w")
	w0 := a.Broadcast(operand.Mem{Base: w})
	w1 := a.Broadcast(operand.Mem{Base: w, Disp: 8})
	w2 := a.Broadcast(operand.Mem{Base: w, Disp: 16})
	last, faces := a.New(), a.New() // of the last vector and the present one
	s.walk("smooth", row, func() {
		a.VMOVAPD(s.faces(-a.Size()), last)
		a.VMOVAPD(s.faces(0), faces)
	}, func() {
		place := operand.Mem{Base: u, Index: s.index[0], Scale: 1}
		sum := a.Add(place, a.Mul(s.at(1, 1, 0), w0))
		beside := a.Add(s.at(1, 1, 8), a.Vector(s.at(1, 1, -8)))
		sum = a.Add(a.Mul(a.Add(beside, faces), w1), sum)
		next := s.faces(a.Size())
		beside = a.Add(a.FromRight(faces, next), a.FromLeft(last, faces))
		sum = a.Add(a.Mul(a.Add(beside, s.edges(0)), w2), sum)
		a.VMOVUPD(sum, place)
		a.VMOVAPD(faces, last)
		a.VMOVAPD(next, faces)
	})
}

// restrict goes through a row from its end: what is to the right of a vector is
// known then.
func restrict(a *vector.Assembler) {
	a.Function("restrict", "func(coarse, around *float64, coarseRow, row, plane, n, rows int)",
		"is restrictRow for rows of n numbers, which lie coarseRow apart, and those",
		"of the fine grid row. Around is beside the first point of the fine row, in row y−1 of plane z−1.")
	s, row := newRows(a)
	coarse, coarseRow := a.Arg("coarse"), a.Arg("coarseRow")
	a.SHLQ(operand.U8(3), coarseRow)
	n, count, i := a.Arg("n"), a.Arg("rows"), a.GP64()
	half, quarter := a.Constant(0.5), a.Constant(0.25)
	right := a.New()
	mean := func(offset int) reg.VecVirtual {
		sum := a.Add(s.at(1, 1, offset), a.Mul(s.faces(offset), half))
		return a.Add(a.Mul(s.edges(offset), quarter), sum)
	}

	a.Label("restrictRow")
	a.MOVQ(n, i)
	a.SHLQ(operand.U8(4), n) // bytes of the fine row
	a.MOVQ(n, s.index[0])
	a.SHRQ(operand.U8(4), n)
	a.LEAQ(operand.Mem{Base: s.index[0], Index: row, Scale: 1}, s.index[1])
	a.LEAQ(operand.Mem{Base: s.index[0], Index: row, Scale: 2}, s.index[2])
	a.VMOVAPD(mean(0), right) // its first number, a ghost, is what matters
	a.Label("restrictVector")
	for _, i := range s.index {
		a.SUBQ(operand.I32(2*a.Size()), i)
	}
	odd, even := a.Split(mean(0), mean(a.Size())) // places from 1 on
	sides := a.Mul(a.Add(a.FromRight(odd, right), odd), quarter)
	a.SUBQ(operand.I32(a.Lanes), i)
	a.VMOVUPD(a.Add(sides, a.Mul(even, half)), operand.Mem{Base: coarse, Index: i, Scale: 8})
	a.VMOVAPD(odd, right)
	a.TESTQ(i, i)
	a.JNE(operand.LabelRef("restrictVector"))
	a.ADDQ(coarseRow, coarse)
	for _, p := range s.plane {
		a.LEAQ(operand.Mem{Base: p, Index: row, Scale: 2}, p)
	}
	a.DECQ(count)
	a.JNE(operand.LabelRef("restrictRow"))
	a.Return()
}

// prolong adds to fine rows of which each other is beside two coarse ones.
func prolong(a *vector.Assembler) {
	a.Function("prolong", "func(fine, lower, upper *float64, fineRow, row, n, rows int)",
		"is prolongRow for rows of which the coarse have n numbers and lie row",
		"apart, those of the fine grid fineRow. Lower and upper are the coarse planes that the fine one lies",
		"between. All three pointers are to point 1 of row 0.")
	fine, fineRow, row := a.Arg("fine"), a.Arg("fineRow"), a.Arg("row")
	a.SHLQ(operand.U8(3), fineRow)
	a.SHLQ(operand.U8(3), row)
	n, count, i := a.Arg("n"), a.Arg("rows"), a.GP64()
	var p [4]reg.Register // this row's and the next one's place in lower, and in upper
	p[0], p[2] = a.Arg("lower"), a.Arg("upper")
	for j := 1; j < len(p); j += 2 {
		p[j] = a.GP64()
		a.MOVQ(p[j-1], p[j])
	}
	step, nextStep := a.GP64(), row // to the next row: in turn for the upper and the lower of the pair
	a.XORQ(step, step)
	half, quarter := a.Constant(0.5), a.Constant(0.25)
	last := a.New()
	mean := func(index reg.Register, disp int) reg.VecVirtual {
		var at [4]operand.Mem
		for j := range at {
			at[j] = operand.Mem{Base: p[j], Index: index, Scale: 8, Disp: disp}
		}
		sum := a.Add(a.Add(at[3], a.Vector(at[2])), a.Add(at[1], a.Vector(at[0])))
		return a.Mul(sum, quarter)
	}
	addFirst := func(v reg.VecVirtual, m operand.Mem) {
		a.VADDSD(m, v.AsX(), v.AsX())
		a.VMOVSD(v.AsX(), m)
	}

	a.Label("prolongRow")
	a.XORQ(i, i)
	addFirst(mean(i, -8), operand.Mem{Base: fine, Disp: -8})
	a.VMOVAPD(mean(i, -a.Size()), last)
	a.Label("prolongVector")
	q := mean(i, 0)
	between := a.Mul(a.Add(a.FromLeft(last, q), q), half)
	a.VMOVAPD(q, last)
	v, w := a.Join(between, q)
	at := a.GP64()
	a.LEAQ(operand.Mem{Base: fine, Index: i, Scale: 8}, at)
	place := operand.Mem{Base: at, Index: i, Scale: 8}
	a.VMOVUPD(a.Add(place, v), place)
	place.Disp = a.Size()
	a.VMOVUPD(a.Add(place, w), place)
	a.ADDQ(operand.I32(a.Lanes), i)
	a.CMPQ(i, n)
	a.JNE(operand.LabelRef("prolongVector"))

	a.LEAQ(operand.Mem{Base: fine, Index: n, Scale: 8}, at)
	end := operand.Mem{Base: at, Index: n, Scale: 8}
	addFirst(a.Mul(a.Add(mean(n, -8), mean(n, 0)), half), end)
	a.ADDQ(fineRow, fine)
	for j := range p {
		if j%2 == 0 {
			a.ADDQ(step, p[j])
		} else {
			a.ADDQ(nextStep, p[j])
		}
	}
	a.XCHGQ(step, nextStep)
	a.DECQ(count)
	a.JNE(operand.LabelRef("prolongRow"))
	a.Return()
}
