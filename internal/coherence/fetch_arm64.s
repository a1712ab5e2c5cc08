#include "textflag.h"

// func FetchToWrite(p unsafe.Pointer, n int)
TEXT ·FetchToWrite(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
next:
	PRFM (R0), PSTL1KEEP
	ADD  $64, R0
	SUBS $64, R1
	BGT  next
	RET

// func Fetch(p unsafe.Pointer, n int)
TEXT ·Fetch(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
next:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	SUBS $64, R1
	BGT  next
	RET
