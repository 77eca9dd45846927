// SPDX-License-Identifier: BSD-3-Clause

package main

// The loops over a row of a grid, in Go. They take neighbours by their place:
// where a slice called around begins at the corner (0, y−1, z−1) of a row's
// points, those of row (y+j, z+k) follow at row·(1+j) + plane·(1+k).
//
// A product is rounded before it is added to anything, never fused with the
// addition, so that the bits are the same on every machine and in every form.

// stencilRows are nine rows, each long enough for its bounds to be checked once.
type stencilRows struct {
	edge0, face0, edge1 []float64 // of plane z−1
	face1, point, face2 []float64 // of plane z
	edge2, face3, edge3 []float64 // of plane z+1
}

// neighbourhood cuts n points of the rows around out of memory.
func neighbourhood(around []float64, row, plane, n int) stencilRows {
	cut := func(j, k int) []float64 {
		i := row*j + plane*k
		return around[i : i+n : i+n]
	}
	return stencilRows{
		cut(0, 0), cut(1, 0), cut(2, 0),
		cut(0, 1), cut(1, 1), cut(2, 1),
		cut(0, 2), cut(1, 2), cut(2, 2),
	}
}

// residualRow sets r to v plus the stencil w of the points around r's; its weight
// of faces is 0. Of each column of nine points, the sums of the four across a face
// and the four across an edge are made once, and used for the points to the
// left, at and to the right of it.
func residualRow(r, v, around []float64, row, plane int, w *weights) {
	n := len(r)
	s := neighbourhood(around, row, plane, n+2)
	w0, w2, w3 := w[0], w[2], w[3]
	faces, edges := s.column(0)
	facesNext, edgesNext := s.column(1)
	point := s.point[1]
	v = v[:n]
	r = r[:n]
	e0, f0, e1 := s.edge0[2:][:n], s.face0[2:][:n], s.edge1[2:][:n]
	f1, p, f2 := s.face1[2:][:n], s.point[2:][:n], s.face2[2:][:n]
	e2, f3, e3 := s.edge2[2:][:n], s.face3[2:][:n], s.edge3[2:][:n]
	for i := range r {
		facesLast, edgesLast := faces, edges
		faces, edges = facesNext, edgesNext
		facesNext = (f0[i] + f3[i]) + (f1[i] + f2[i])
		edgesNext = (e0[i] + e2[i]) + (e1[i] + e3[i])
		sum := v[i] + float64(w0*point)
		sum += float64(w2 * (edges + (facesLast + facesNext)))
		sum += float64(w3 * (edgesLast + edgesNext))
		r[i] = sum
		point = p[i]
	}
}

// smoothRow adds to u the stencil w of the points around u's; its weight of
// corners is 0. The sums are those of residualRow.
func smoothRow(u, around []float64, row, plane int, w *weights) {
	n := len(u)
	s := neighbourhood(around, row, plane, n+2)
	w0, w1, w2 := w[0], w[1], w[2]
	faces, _ := s.column(0)
	facesNext, edgesNext := s.column(1)
	last, point := s.point[0], s.point[1]
	u = u[:n]
	e0, f0, e1 := s.edge0[2:][:n], s.face0[2:][:n], s.edge1[2:][:n]
	f1, p, f2 := s.face1[2:][:n], s.point[2:][:n], s.face2[2:][:n]
	e2, f3, e3 := s.edge2[2:][:n], s.face3[2:][:n], s.edge3[2:][:n]
	for i := range u {
		next := p[i]
		facesLast := faces
		faces = facesNext
		edges := edgesNext
		facesNext = (f0[i] + f3[i]) + (f1[i] + f2[i])
		edgesNext = (e0[i] + e2[i]) + (e1[i] + e3[i])
		sum := u[i] + float64(w0*point)
		sum += float64(w1 * (faces + (last + next)))
		sum += float64(w2 * (edges + (facesLast + facesNext)))
		u[i] = sum
		last, point = point, next
	}
}

// column returns the sums at place i of a row: of the four rows across a face,
// and of the four across an edge.
func (s *stencilRows) column(i int) (faces, edges float64) {
	return (s.face0[i] + s.face3[i]) + (s.face1[i] + s.face2[i]),
		(s.edge0[i] + s.edge2[i]) + (s.edge1[i] + s.edge3[i])
}

// mean returns the mean of the nine points at place i of a row, weighted by 1,
// 1/2 and 1/4, times four: only powers of two, whose products are exact.
func (s *stencilRows) mean(i int) float64 {
	faces, edges := s.column(i)
	return s.point[i] + float64(faces*0.5) + float64(edges*0.25)
}

// restrictRow sets a row of the coarse grid to the means of the points around
// every other one of a row of the fine, those at 2, 4, 6, …, weighted by 1/2 at
// the centre, and half as much across a face, an edge and a corner each.
func restrictRow(coarse, around []float64, row, plane int) {
	s := neighbourhood(around, row, plane, 2*len(coarse)+2)
	left := s.mean(1)
	for i := range coarse {
		right := s.mean(2*i + 3)
		coarse[i] = float64(s.mean(2*i+2)*0.5) + float64((left+right)*0.25)
		left = right
	}
}

// prolongRow adds to a row of the fine grid what lies between four of the coarse:
// their mean at every other point, the mean of two such at the points between.
// All rows begin with a ghost. Fine has an even number of points.
func prolongRow(fine, a, b, c, d []float64) {
	n := len(fine) / 2
	a, b, c, d = a[:n+1], b[:n+1], c[:n+1], d[:n+1]
	mean := float64(((a[0] + b[0]) + (c[0] + d[0])) * 0.25)
	a, b, c, d = a[1:][:n], b[1:][:n], c[1:][:n], d[1:][:n]
	for i := range a {
		next := float64(((a[i] + b[i]) + (c[i] + d[i])) * 0.25)
		pair := fine[2*i:][:2:2]
		pair[0] += mean
		pair[1] += float64((mean + next) * 0.5)
		mean = next
	}
}
