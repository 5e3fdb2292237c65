/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: calls that are made while memory is short, a mixed set of probes to make
 * them with, and the question whether anything is left of it.
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
 * @addr:	where each of them stands; 0, 2 and 5 are functions' entries
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

/**
 * struct entry_point - a call that takes memory
 * @name:	for the report
 * @before:	has there be what the call needs; cannot fail
 * @call:	the call: 0 or an errno.  After an error it is made again as it is
 * @after:	undoes @before and a call that succeeded
 * @fails:	at least so many of its allocations make it fail; 0: it has no way to
 * @undoes:	to undo what was done may take memory, too
 * @also:	another errno than -ENOMEM that is as good
 */
struct entry_point {
	const char	*name;
	void		(*before)(struct fault_set *set);
	int		(*call)(struct fault_set *set);
	void		(*after)(struct fault_set *set);
	unsigned int	fails;
	bool		undoes;
	int		also;
};

static inline void entry_point_describe(const struct entry_point *e, char *desc)
{
	strscpy(desc, e->name, KUNIT_PARAM_DESC_SIZE);
}

/* For the suite: the hooks in the allocators. */
int faults_init(struct kunit_suite *suite);
void faults_exit(struct kunit_suite *suite);

/* Let each allocation of the entry point fail in turn, and see what is left. */
void faults_try(struct kunit *test, const struct entry_point *e);

#endif /* _KERNEL_KPROBES_TEST_FAULT_H */
