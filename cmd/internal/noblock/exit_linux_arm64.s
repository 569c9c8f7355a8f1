//go:build !go1.27

#include "textflag.h"

// func exit(code int32)
// It is longer than the one it replaces, as it has to be.
TEXT runtime·exit(SB),NOSPLIT|NOFRAME|DUPOK,$0-4
	MOVW	code+0(FP), R0
	CMPW	$2, R0
	BNE	end
	MOVW	·fatal(SB), R0
end:
	MOVD	$94, R8 // exit_group
	SVC
	RET
