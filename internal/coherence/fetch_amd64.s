#include "textflag.h"

// The assembler does not know PREFETCHW (AX). Processors that have it not take it for no operation.

// func FetchToWrite(p unsafe.Pointer, n int)
TEXT ·FetchToWrite(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
next:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08
	ADDQ $64, AX
	SUBQ $64, CX
	JGT  next
	RET

// func Fetch(p unsafe.Pointer, n int)
TEXT ·Fetch(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
next:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	SUBQ $64, CX
	JGT  next
	RET
