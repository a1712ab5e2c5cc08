#include "textflag.h"

// func crcOfThree(crc uint32, p *byte, words int, first, second uint32) uint32
TEXT ·crcOfThree(SB), NOSPLIT, $0-36
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ words+16(FP), CX
	LEAQ (SI)(CX*8), DI
	LEAQ (DI)(CX*8), R8
	XORL BX, BX
	XORL DX, DX
next:
	CRC32Q (SI), AX
	CRC32Q (DI), BX
	CRC32Q (R8), DX
	ADDQ $8, SI
	ADDQ $8, DI
	ADDQ $8, R8
	DECQ CX
	JNZ  next

	// The first two are moved ahead of what follows them.
	MOVQ      AX, X0
	MOVL      first+24(FP), X1
	PCLMULQDQ $0, X1, X0
	MOVQ      BX, X2
	MOVL      second+28(FP), X3
	PCLMULQDQ $0, X3, X2
	PXOR      X2, X0
	MOVQ      X0, BX
	XORL      AX, AX
	CRC32Q    BX, AX
	XORL      DX, AX
	MOVL      AX, ret+32(FP)
	RET
