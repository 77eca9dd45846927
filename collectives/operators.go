// SPDX-License-Identifier: BSD-3-Clause

package collectives

// Integer is what has bits to combine.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Ordered is what has a greatest and a least.
type Ordered interface {
	Integer | ~float32 | ~float64
}

// Number is what can be added and multiplied.
type Number interface {
	Ordered | ~complex64 | ~complex128
}

// Operator is what a reduction does with two elements.
type Operator uint8

// The operators of OpenSHMEM 1.6, 9.10.9.
const (
	OpSum Operator = iota
	OpProd
	OpMax
	OpMin
	OpAnd
	OpOr
	OpXor
)

var operatorNames = [...]string{"Sum", "Prod", "Max", "Min", "And", "Or", "Xor"}

// String returns the operator's name: "Sum".
func (op Operator) String() string { return operatorNames[int(op)%len(operatorNames)] }

// A fold combines elements: dst[i] = dst[i] op src[i]. Both have the same
// number of them, and may be the same. Algorithms see bytes, so that there is one of each,
// not one for every type.
type fold func(dst, src []byte)

// The operators' loops. Each is instantiated for each type and has the
// operator's instruction in it.

// add: four independent sums a step keep the adders busy; the reslicing takes
// the bounds checks away.
func add[T Number](dst, src []T) {
	src = src[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d, s := dst[i:i+4:i+4], src[i:i+4:i+4]
		d[0] += s[0]
		d[1] += s[1]
		d[2] += s[2]
		d[3] += s[3]
	}
	for ; i < len(dst); i++ {
		dst[i] += src[i]
	}
}

func multiply[T Number](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] *= src[i]
	}
}

// greatest: of a number and a NaN the number, as AtomicMax has it; +0 is
// greater than -0.
func greatest[T Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i, d := range dst {
		switch s := src[i]; {
		case d != d:
			dst[i] = s
		case s == s:
			dst[i] = max(d, s)
		}
	}
}

// least is greatest the other way round.
func least[T Ordered](dst, src []T) {
	src = src[:len(dst)]
	for i, d := range dst {
		switch s := src[i]; {
		case d != d:
			dst[i] = s
		case s == s:
			dst[i] = min(d, s)
		}
	}
}

func and[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] &= src[i]
	}
}

func or[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] |= src[i]
	}
}

func xor[T Integer](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] ^= src[i]
	}
}
