/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of kprobes_target.c that are global. */
#ifndef KPROBES_TARGET_H
#define KPROBES_TARGET_H

int kprobes_target_add(int a, int b);
int kprobes_target_other(int a);
int kprobes_target_init_text(int a);
int kprobes_target_long(void);
int kprobes_target_outer(int depth);
int kprobes_target_inner(int a);
void kprobes_target_sleep(void);

#endif
