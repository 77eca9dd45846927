// SPDX-License-Identifier: BSD-3-Clause

//go:build !race && !purego

#include "textflag.h"

// func repMove(dst, src []byte)
TEXT ·repMove(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), CX
	REP; MOVSB // the direction flag is clear, in Go as in the ABI
	RET
