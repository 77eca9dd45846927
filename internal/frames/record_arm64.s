// SPDX-License-Identifier: BSD-3-Clause

#include "textflag.h"

// A frame pointer is the address of the caller's, and behind it is the return
// address; the outermost is 0.

// func Record(pcs *[Depth]uintptr)
TEXT ·Record(SB), NOSPLIT|NOFRAME, $0-8
	MOVD pcs+0(FP), R0
	MOVD R29, R1
	MOVD $5, R2
next:
	MOVD $0, R3
	CBZ  R1, store
	MOVD 8(R1), R3
	MOVD 0(R1), R1
store:
	MOVD.P R3, 8(R0)
	SUB  $1, R2
	CBNZ R2, next
	RET
