// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the return hook where the function graph tracer hooks returns, too.
 *
 * The idea: each of them puts an address of its own in place of the return
 * address, so what one takes for the caller may be the other.  Whatever came to
 * the function first, all who ask are told the true caller: handlers, and those
 * who look at the stack.
 */
#include <kunit/test.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/rethook.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

/**
 * struct view - what somebody saw of a call, at its return or inside
 * @calls:  so often
 * @caller: where it was told that the call returns to
 * @ip:     where the registers say that it is
 * @trace:  the stack
 * @len:    of @trace
 * @regs_trace: the same, from the registers
 * @regs_len:   of @regs_trace
 */
struct view {
	unsigned int	calls;
	unsigned long	caller;
	unsigned long	ip;
	unsigned long	trace[32];
	unsigned int	len;
	unsigned long	regs_trace[32];
	unsigned int	regs_len;
};

static void look(struct view *v, unsigned long caller, struct pt_regs *regs)
{
	v->calls++;
	v->caller = caller;
	v->len = stack_trace_save(v->trace, ARRAY_SIZE(v->trace), 0);
	if (!regs)
		return;
	v->ip = instruction_pointer(regs);
	v->regs_len = stack_trace_save_regs(regs, v->regs_trace,
					    ARRAY_SIZE(v->regs_trace), 0);
}

static bool names(const unsigned long *trace, unsigned int len, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (trace[i] == addr)
			return true;
	return false;
}

static bool names_hooks(const unsigned long *trace, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (is_rethook_trampoline(trace[i]) ||
		    trace[i] == (unsigned long)return_to_handler)
			return true;
	return false;
}

/* At the return the trampoline itself is on the stack, and calls a handler. */
static void expect_true_return(struct kunit *test, const struct view *v, unsigned long caller)
{
	KUNIT_EXPECT_EQ(test, v->calls, 1);
	KUNIT_EXPECT_EQ(test, v->caller, caller);
	KUNIT_EXPECT_EQ(test, v->ip, caller);
	KUNIT_EXPECT_TRUE(test, names(v->trace, v->len, caller));
	KUNIT_EXPECT_FALSE(test, names(v->trace, v->len, (unsigned long)return_to_handler));
	KUNIT_ASSERT_GT(test, v->regs_len, 2);
	KUNIT_EXPECT_EQ(test, v->regs_trace[0], caller);
	KUNIT_EXPECT_TRUE(test, names(v->trace, v->len, v->regs_trace[1]));
	KUNIT_EXPECT_FALSE(test, names_hooks(v->regs_trace, v->regs_len));
}

/* Inside of the probed function, where caller is what is in the slot. */
static struct view inside;

static noinline int graph_target(int x)
{
	look(&inside, (unsigned long)__builtin_return_address(0), NULL);
	return x + 1;
}

/*
 * The compiler makes the call a jump, and both return by one ret; but for kernels
 * with frame pointers it does not.
 */
static unsigned long tail_caller;

static noinline int graph_tail(int x)
{
	tail_caller = (unsigned long)__builtin_return_address(0);
	return graph_target(x + 1);
}

/* One call site, so that every call returns to the same address. */
static noinline int call_it(int (*fn)(int x), int x)
{
	int ret = fn(x);

	barrier();
	return ret;
}

/* The function graph tracer's like. */
static unsigned int graph_entries, graph_returns;

static int graph_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	graph_entries++;
	return 1;
}

static void graph_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	graph_returns++;
}

static struct fgraph_ops graph = {
	.entryfunc	= graph_entry,
	.retfunc	= graph_return,
};

static int come_graph(void)
{
	unsigned long ips[] = {
		ftrace_location((unsigned long)graph_target),
		ftrace_location((unsigned long)graph_tail),
	};

	return ftrace_set_filter_ips(&graph.ops, ips, ARRAY_SIZE(ips), 0, 1) ?:
	       register_ftrace_graph(&graph);
}

static void go_graph(void)
{
	unregister_ftrace_graph(&graph);
}

/* Return probes. */
struct return_probe {
	struct kretprobe	rp;
	struct view		view;
};

static struct return_probe of_target, of_tail;

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct return_probe *p = container_of(get_kretprobe(ri), struct return_probe, rp);

	look(&p->view, get_kretprobe_retaddr(ri), regs);
	return 0;
}

static int come_return(struct return_probe *p, int (*fn)(int x))
{
	memset(&p->rp, 0, sizeof(p->rp));
	p->rp.kp.addr = (void *)fn;
	p->rp.handler = on_return;
	return register_kretprobe(&p->rp);
}

static int come_kretprobe(void)
{
	return come_return(&of_target, graph_target);
}

static void go_kretprobe(void)
{
	unregister_kretprobe(&of_target.rp);
}

static int come_tail(void)
{
	return come_return(&of_tail, graph_tail);
}

static void go_tail(void)
{
	unregister_kretprobe(&of_tail.rp);
}

/* An fprobe's exit: another hook on the same call. */
static struct view of_fprobe;
static struct fprobe *fprobe;

static void on_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		    struct pt_regs *regs, void *data)
{
	look(&of_fprobe, ret_ip, regs);
}

static int come_fprobe(void)
{
	unsigned long ip = ftrace_location((unsigned long)graph_target);
	int err;

	/* A new one each time: unregistering leaves a filter in it that was freed. */
	fprobe = kzalloc(sizeof(*fprobe), GFP_KERNEL);
	if (!fprobe)
		return -ENOMEM;
	fprobe->exit_handler = on_exit;
	err = register_fprobe_ips(fprobe, &ip, 1);
	if (err)
		kfree(fprobe);
	return err;
}

static void go_fprobe(void)
{
	unregister_fprobe(fprobe);
	kfree(fprobe);
}

/* Who comes to a call, and goes again. */
struct party {
	const char	*name;
	int		(*come)(void);
	void		(*go)(void);
};

static const struct party by_graph = { "graph", come_graph, go_graph };
static const struct party by_fprobe = { "fprobe", come_fprobe, go_fprobe };
static const struct party by_kretprobe = { "kretprobe", come_kretprobe, go_kretprobe };
static const struct party by_tail = { "kretprobe of the tail", come_tail, go_tail };

/* Who comes first is called last, and finds what the others have made of the slot. */
struct order {
	const struct party *party[3];
};

static const struct order orders[] = {
	{ { &by_graph, &by_kretprobe, &by_fprobe } },
	{ { &by_graph, &by_fprobe, &by_kretprobe } },
	{ { &by_kretprobe, &by_graph, &by_fprobe } },
	{ { &by_fprobe, &by_graph, &by_kretprobe } },
	{ { &by_kretprobe, &by_fprobe, &by_graph } },
	{ { &by_fprobe, &by_kretprobe, &by_graph } },
};

static const struct order tail_orders[] = {
	{ { &by_graph, &by_tail, &by_kretprobe } },
	{ { &by_tail, &by_graph, &by_kretprobe } },
	{ { &by_kretprobe, &by_tail, &by_graph } },
};

static void describe(const struct order *o, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s", o->party[0]->name,
		 o->party[1]->name, o->party[2]->name);
}

KUNIT_ARRAY_PARAM(order, orders, describe);
KUNIT_ARRAY_PARAM(tail_order, tail_orders, describe);

/* Call a function with all of them at it, and look from inside. */
static void call_watched(struct kunit *test, int (*fn)(int x), int want,
			 unsigned long caller)
{
	const struct order *o = test->param_value;
	int i, err = 0;

	memset(&inside, 0, sizeof(inside));
	memset(&of_target.view, 0, sizeof(of_target.view));
	memset(&of_tail.view, 0, sizeof(of_tail.view));
	memset(&of_fprobe, 0, sizeof(of_fprobe));
	graph_entries = 0;
	graph_returns = 0;
	for (i = 0; i < ARRAY_SIZE(o->party); i++) {
		err = o->party[i]->come();
		KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s\n", o->party[i]->name);
		if (err)
			break;
	}
	if (!err)
		KUNIT_EXPECT_EQ(test, call_it(fn, 1), want);
	while (i--)
		o->party[i]->go();

	KUNIT_EXPECT_EQ(test, inside.calls, 1);
	KUNIT_EXPECT_NE(test, inside.caller, caller);
	KUNIT_EXPECT_TRUE(test, names(inside.trace, inside.len, caller));
	KUNIT_EXPECT_FALSE(test, names_hooks(inside.trace, inside.len));
}

static void test_orders(struct kunit *test)
{
	unsigned long caller;

	call_it(graph_target, 1);
	caller = inside.caller;
	call_watched(test, graph_target, 2, caller);
	expect_true_return(test, &of_target.view, caller);
	expect_true_return(test, &of_fprobe, caller);
	KUNIT_EXPECT_EQ(test, graph_entries, 1);
	KUNIT_EXPECT_EQ(test, graph_returns, 1);
}

/* Two calls by one slot, each with a probe and traced. */
static void test_tail_call(struct kunit *test)
{
	unsigned long caller, of_the_tail;

	call_it(graph_tail, 1);
	caller = inside.caller;
	of_the_tail = tail_caller;
	if (!IS_ENABLED(CONFIG_FRAME_POINTER))
		KUNIT_EXPECT_EQ(test, caller, of_the_tail);
	call_watched(test, graph_tail, 3, caller);
	expect_true_return(test, &of_target.view, caller);
	expect_true_return(test, &of_tail.view, of_the_tail);
	KUNIT_EXPECT_EQ(test, graph_entries, 2);
	KUNIT_EXPECT_EQ(test, graph_returns, 2);
}

static struct kunit_case graph_cases[] = {
	KUNIT_CASE_PARAM(test_orders, order_gen_params),
	KUNIT_CASE_PARAM(test_tail_call, tail_order_gen_params),
	{}
};

static struct kunit_suite graph_suite = {
	.name = "kretprobes_graph",
	.test_cases = graph_cases,
};

kunit_test_suites(&graph_suite);
