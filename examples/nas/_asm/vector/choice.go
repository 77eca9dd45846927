// SPDX-License-Identifier: BSD-3-Clause

package vector

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Choice is some of the lanes of a vector.
type Choice struct {
	Count reg.GPVirtual // their number, 64 bits

	mask  reg.Register   // AVX-512
	order reg.VecVirtual // AVX2: indices of half numbers, those of the choice first
}

// AtMost chooses the lanes in which v is not above bound.
func (a *Assembler) AtMost(v, bound reg.VecVirtual) Choice {
	const atMost = operand.U8(18) // false for NaNs, which are no errors
	bits := a.GP32()
	c := Choice{Count: a.GP64()}
	if a.Lanes == 8 {
		c.mask = a.K()
		a.VCMPPD(atMost, bound, v, c.mask)
		a.KMOVW(c.mask, bits)
		a.POPCNTL(bits, c.Count.As32())
		return c
	}
	chosen := a.New()
	a.VCMPPD(atMost, bound, v, chosen)
	a.VMOVMSKPD(chosen, bits)
	a.POPCNTL(bits, c.Count.As32())
	a.SHLL(operand.U8(5), bits) // an order is 32 bytes
	at, orders := a.GP64(), a.orders()
	a.LEAQ(orders, at)
	c.order = a.New()
	a.VMOVUPD(operand.Mem{Base: at, Index: bits.As64(), Scale: 1}, c.order)
	return c
}

// orders returns where the orders of all choices of four lanes are, by the bits
// of their lanes.
func (a *Assembler) orders() operand.Mem {
	var words []uint64
	for choice := range 1 << 4 {
		var order [4]uint64
		n := 0
		for lane := range uint64(4) {
			if choice>>lane&1 == 1 {
				order[n] = 2*lane | (2*lane+1)<<32
				n++
			}
		}
		words = append(words, order[:]...)
	}
	return a.table("orders", words...)
}

// Pack returns v's numbers in the lanes of a choice, one after the other from the
// first lane on. What comes after them means nothing.
func (a *Assembler) Pack(c Choice, v reg.VecVirtual) reg.VecVirtual {
	packed := a.New()
	if a.Lanes == 8 {
		a.VCOMPRESSPD_Z(v, c.mask, packed)
	} else {
		a.VPERMPS(v, c.order, packed)
	}
	return packed
}
