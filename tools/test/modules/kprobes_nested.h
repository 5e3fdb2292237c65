/* SPDX-License-Identifier: GPL-2.0 */
/* The function of kprobes_nested.c that is global, for an ENDBR. */
#ifndef KPROBES_NESTED_H
#define KPROBES_NESTED_H

int kprobes_nested_callee(void);

#endif
