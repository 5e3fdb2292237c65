// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: handlers that look at the stack.
 *
 * The idea: a handler sees who has called the probed function, and sees the same
 * however it was reached: through a breakpoint, a jump, or from a slot.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "jump.h"
#include "test_common.h"
#include "test_x86.h"

struct stack {
	unsigned long	entry[32];
	unsigned int	len;
};

/* As the handlers of the last hit saw it. */
static struct stack at_pre, at_post;

static void look(struct stack *s)
{
	s->len = stack_trace_save(s->entry, ARRAY_SIZE(s->entry), 0);
}

static int look_pre(struct kprobe *p, struct pt_regs *regs)
{
	look(&at_pre);
	return count_pre(p, regs);
}

static void look_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	look(&at_post);
	count_post(p, regs, flags);
}

/* Where a function is in a stack; its length when it is not. */
static unsigned int depth_of(const struct stack *s, const void *function)
{
	unsigned long start = (unsigned long)function, size, offset;
	unsigned int i = s->len;

	if (kallsyms_lookup_size_offset(start, &size, &offset))
		for (i = 0; i < s->len; i++)
			if (s->entry[i] - start < size)
				break;
	return i;
}

static bool names(const struct stack *s, const void *function)
{
	return depth_of(s, function) < s->len;
}

/* What is above @function in both is the same. */
static bool same_callers(const struct stack *a, const struct stack *b,
			 const void *function)
{
	unsigned int i = depth_of(a, function), j = depth_of(b, function);

	return i < a->len && a->len - i == b->len - j &&
	       !memcmp(&a->entry[i + 1], &b->entry[j + 1],
		       (a->len - i - 1) * sizeof(a->entry[0]));
}

/* One call site, so that every stack is the same. */
static noinline u32 calling(u32 (*fn)(u32 x), u32 x)
{
	return fn(x) + 1;
}

/**
 * struct place - what is probed
 * @name:   for the log
 * @fn:     the function; adds KPROBES_TEST_ADD_SUM
 * @first:  where its additions begin
 * @offset: of the one that is probed
 * @single: a jump there displaces no other
 * @framed: the function has made its frame
 */
struct place {
	const char	*name;
	u32		(*fn)(u32 x);
	const u32	*first;
	unsigned int	offset;
	bool		single;
	bool		framed;
};

#define PLACE(what, function, at, ...)					\
	{								\
		.name = what,						\
		.fn = kprobes_test_add_##function,			\
		.first = &kprobes_test_add_##at,			\
		__VA_ARGS__						\
	}

static const struct place places[] = {
	PLACE("first", a, at),
	PLACE("second", a, at, .offset = 3),
	PLACE("long", a, at, .offset = 12, .single = true),
	PLACE("first, framed", framed, framed_at, .framed = true),
	PLACE("second, framed", framed, framed_at, .offset = 3, .framed = true),
	PLACE("long, framed", framed, framed_at, .offset = 12, .single = true,
	      .framed = true),
};

static void describe(const struct place *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(place, places, describe);

static void hit(struct kunit *test, bool jump, bool post)
{
	const struct place *p = test->param_value;
	static struct counted c;

	jumps_allow(jump);
	set_up_counted(&c, (void *)READ_ONCE(p->fn) + *p->first + p->offset);
	c.kp.pre_handler = look_pre;
	if (post)
		c.kp.post_handler = look_post;
	c.kp.flags = KPROBE_FLAG_OBSERVER;
	memset(&at_pre, 0, sizeof(at_pre));
	memset(&at_post, 0, sizeof(at_post));
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	wait_for_kprobe_optimizer();
	/* Behind a jump over several, nobody could run post-handlers in between. */
	KUNIT_EXPECT_EQ(test, kprobe_optimized(&c.kp), jump && (!post || p->single));
	KUNIT_EXPECT_EQ(test, calling(p->fn, 1), KPROBES_TEST_ADD_SUM + 2);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	KUNIT_EXPECT_EQ(test, c.post, post);
}

/*
 * Who follows frame pointers, and not ORC, finds by that of the registers who has
 * called the function which that frame is of.  A function without one hides its
 * own caller, in any kernel and behind a breakpoint, too.
 */
static void test_callers(struct kunit *test)
{
	const struct place *p = test->param_value;
	struct stack trapped;
	int way;

	/* From one call of hit(), or the stacks would differ by where that is. */
	for (way = 0; way < 4; way++) {
		bool jump = way & 1, post = way & 2;

		hit(test, jump, post);
		if (!way)
			trapped = at_pre;
		KUNIT_EXPECT_TRUE_MSG(test, same_callers(&at_pre, &trapped, p->fn),
				      "jump %d\n", jump);
		if (post)
			KUNIT_EXPECT_TRUE_MSG(test, same_callers(&at_post, &trapped, p->fn),
					      "jump %d\n", jump);
	}
	KUNIT_EXPECT_TRUE(test, names(&trapped, p->fn));
	if (p->framed || IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_TRUE(test, names(&trapped, calling));
	KUNIT_EXPECT_TRUE(test, names(&trapped, test_callers));
}

static void stack_test_exit(struct kunit *test)
{
	jumps_allow(true);
}

static struct kunit_case stack_cases[] = {
	KUNIT_CASE_PARAM(test_callers, place_gen_params),
	{}
};

static struct kunit_suite stack_suite = {
	.name = "kprobes_stack",
	.exit = stack_test_exit,
	.test_cases = stack_cases,
};

kunit_test_suites(&stack_suite);
