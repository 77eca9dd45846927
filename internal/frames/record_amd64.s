// SPDX-License-Identifier: BSD-3-Clause

#include "textflag.h"

// A frame pointer is the address of the caller's, and behind it is the return
// address; the outermost is 0.

// func Record(pcs *[Depth]uintptr)
TEXT ·Record(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ pcs+0(FP), DI
	MOVQ BP, SI
	MOVQ $0, CX
next:
	MOVQ $0, AX
	TESTQ SI, SI
	JEQ  store
	MOVQ 8(SI), AX
	MOVQ 0(SI), SI
store:
	MOVQ AX, (DI)(CX*8)
	INCQ CX
	CMPQ CX, $5
	JLT  next
	RET
