/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_bench: as many probe-able instructions of five bytes as a set of them
 * may have, in functions of a common size.  Nobody calls them, attach.c only
 * attaches to them; it finds the instructions by their bytes.
 */
#include <linux/linkage.h>
#include "bench.h"

#define PER_FUNCTION	20

SYM_FUNC_START(bench_mid_pool)
	RET
SYM_FUNC_END(bench_mid_pool)

/* By hand: the SYM_ macros do not take a name made by an assembler macro. */
.macro mid_function
	.p2align 4
bench_mid_\@:
	.rept PER_FUNCTION
	addl $BENCH_POOL_IMM, %eax
	.endr
	RET
	.type bench_mid_\@, STT_FUNC
	.size bench_mid_\@, . - bench_mid_\@
.endm

	.rept BENCH_MAX_POOL / PER_FUNCTION
	mid_function
	.endr
