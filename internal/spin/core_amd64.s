// SPDX-License-Identifier: BSD-3-Clause

#include "textflag.h"

// func Core() uint32
TEXT ·Core(SB), NOSPLIT, $0-4
	RDTSCP
	ANDL	$0xfff, CX // Linux keeps the node above 12 bits of core
	INCL	CX
	MOVL	CX, ret+0(FP)
	RET
