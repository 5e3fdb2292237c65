/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: a mixed set of probes, and the question whether anything is left of it.
 */
#ifndef _KERNEL_KPROBES_TEST_FAULT_H
#define _KERNEL_KPROBES_TEST_FAULT_H

#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/static_call_types.h>

/* What the linker gathers, and no header declares. */
extern struct static_call_site __start_static_call_sites[];
extern struct static_call_site __stop_static_call_sites[];

#define FAULT_SET	8
#define FAULT_TEXT	16

/**
 * struct fault_set - probes of every kind, at places of every kind
 * @kps:	for register_kprobes()
 * @kp:		the probes
 * @addr:	where each of them stands
 * @text:	the bytes there, before any was registered
 */
struct fault_set {
	struct kprobe	*kps[FAULT_SET];
	struct kprobe	kp[FAULT_SET];
	void		*addr[FAULT_SET];
	u8		text[FAULT_SET][FAULT_TEXT];
};

/* Choose the places, which nobody may have probed; freed with the test. */
struct fault_set *fault_set_make(struct kunit *test);

/* Fill in the probes, ready to be registered. */
void fault_set_fill(struct fault_set *set);

/* Nothing is registered, and the text is as it was. */
void fault_set_expect_nothing(struct kunit *test, struct fault_set *set);

#endif /* _KERNEL_KPROBES_TEST_FAULT_H */
