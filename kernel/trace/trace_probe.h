/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe events: what kprobe, uprobe, fprobe and event probes have in common.
 *
 * The one idea: a definition is parsed once, into a few fetch instructions for
 * each argument; a hit only interprets them.  An event is a trace_probe_event,
 * which the rest of tracing sees; behind it stand one or more trace_probes,
 * one for each place that was defined under its name.
 *
 * trace_uprobe.c, trace_eprobe.c and trace_fprobe.c read these structures and
 * interpret these instructions: the names here are an interface.
 */

#ifndef _TRACE_PROBE_H
#define _TRACE_PROBE_H

#include <linux/bitops.h>
#include <linux/btf.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/tracefs.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <asm/bitsperlong.h>

#include "trace.h"
#include "trace_output.h"

#define MAX_TRACE_ARGS		128	/* arguments of an event */
#define MAX_ARGSTR_LEN		63	/* characters of one argument's text */
#define MAX_ARRAY_LEN		64	/* elements */
#define MAX_ARG_NAME_LEN	32	/* characters of a name that is given */
#define MAX_BTF_ARGS_LEN	128	/* characters that $arg* may become */
#define MAX_DENTRY_ARGS_LEN	256	/* characters that %pd may become */
#define MAX_STRING_SIZE		PATH_MAX
#define MAX_PROBE_EVENT_SIZE	3072	/* bytes of an entry's fixed part: fits a page */
#define FETCH_INSN_MAX		16	/* instructions of one argument */

/* The first fields of every event. */
#define FIELD_STRING_IP		"__probe_ip"
#define FIELD_STRING_RETIP	"__probe_ret_ip"
#define FIELD_STRING_FUNC	"__probe_func"

/* Used where "field", "event_call" and "ret" are in scope; returns on an error. */
#define DEFINE_FIELD(_type, _member, _name, _signed) ({			\
	ret = trace_define_field(event_call, __stringify(_type), _name,	\
				 offsetof(typeof(field), _member),	\
				 sizeof_field(typeof(field), _member),	\
				 _signed, FILTER_OTHER);		\
	if (ret != 0)							\
		return ret;						\
})

/*
 * The value of a __data_loc field: the length of the data in the upper half,
 * where they begin, from the start of the entry, in the lower one.
 */
static nokprobe_inline u32 make_data_loc(u32 len, u32 offs)
{
	return len << 16 | (offs & U16_MAX);
}

static nokprobe_inline u32 get_loc_len(u32 loc)
{
	return loc >> 16;
}

static nokprobe_inline u32 get_loc_offs(u32 loc)
{
	return loc & U16_MAX;
}

static nokprobe_inline void *get_loc_data(u32 *loc, void *entry)
{
	return entry + get_loc_offs(*loc);
}

/*
 * Fetch instructions
 *
 * An argument's program runs in stages, each optional but the first and the
 * third: one instruction makes a value; dereferences follow it through memory;
 * one stores it; one takes a bit field out of what was stored; one repeats the
 * store for an array.  END closes it.
 *
 * An array takes its elements from one address after the other.  One of strings
 * is an array of pointers to them: there it is the last dereference that moves
 * on by a pointer, and ST_STRING follows what it has read.
 */
enum fetch_op {
	FETCH_OP_NOP,
	/* 1: a value */
	FETCH_OP_REG,		/* pt_regs field at .param */
	FETCH_OP_STACK,		/* .param-th entry of the stack */
	FETCH_OP_STACKP,	/* the stack pointer */
	FETCH_OP_RETVAL,
	FETCH_OP_IMM,		/* .immediate */
	FETCH_OP_COMM,		/* the address of current->comm */
	FETCH_OP_ARG,		/* .param-th argument of the function, from 0 */
	FETCH_OP_FOFFS,		/* .immediate: offset in the probed file */
	FETCH_OP_DATA,		/* .data: a string of the definition, owned */
	FETCH_OP_EDATA,		/* what the entry left at .offset */
	/* 2: through memory */
	FETCH_OP_DEREF,		/* of the kernel at value + .offset */
	FETCH_OP_UDEREF,	/* of the user */
	/* 3: into the entry */
	FETCH_OP_ST_RAW,	/* .size bytes of the value */
	FETCH_OP_ST_MEM,	/* .size bytes at value + .offset */
	FETCH_OP_ST_UMEM,
	FETCH_OP_ST_STRING,	/* the string at value + .offset */
	FETCH_OP_ST_USTRING,
	FETCH_OP_ST_SYMSTR,	/* the name of the symbol at value */
	FETCH_OP_ST_EDATA,	/* entry program: the value, for the return, at .offset */
	/* 4: a bit field of what was stored */
	FETCH_OP_MOD_BF,	/* .basesize bytes, << .lshift, >> .rshift */
	/* 5: again, .param elements in all */
	FETCH_OP_LP_ARRAY,
	FETCH_OP_TP_ARG,	/* event probes: .data is the attached event's field */
	FETCH_OP_END,
	FETCH_NOP_SYMBOL,	/* .data: a symbol's name, owned; see traceprobe_update_arg() */
	/* Of kprobe events alone; both are stage 1. */
	FETCH_OP_CLOCK,		/* entry program: nanoseconds, now */
	FETCH_OP_LATENCY,	/* now less what the entry left at .offset */
};

/* For uprobes, what FETCH_OP_COMM comes to: no address of a user. */
#define FETCH_TOKEN_COMM	(~0UL)

struct fetch_insn {
	enum fetch_op op;
	union {
		unsigned int param;
		struct {
			unsigned int size;
			int offset;
		};
		struct {
			unsigned char basesize;
			unsigned char lshift;
			unsigned char rshift;
		};
		unsigned long immediate;
		void *data;
	};
};

static nokprobe_inline bool fetch_is_deref(const struct fetch_insn *insn)
{
	return insn->op == FETCH_OP_DEREF || insn->op == FETCH_OP_UDEREF;
}

typedef int (*print_type_func_t)(struct trace_seq *s, void *data, void *ent);

/**
 * struct fetch_type - how an argument is stored and shown
 * @name:	as a definition spells it
 * @size:	bytes of one element in the entry's fixed part
 * @is_signed:	for filters and histograms
 * @is_string:	stored behind the fixed part, which holds a __data_loc
 * @print:	prints the element at @data of the entry @ent
 * @fmt:	the same for "print fmt", which user space reads
 * @fmttype:	the C type in "format"
 */
struct fetch_type {
	const char		*name;
	size_t			size;
	bool			is_signed;
	bool			is_string;
	print_type_func_t	print;
	const char		*fmt;
	const char		*fmttype;
};

/* trace_probe_type.c */
const struct fetch_type *trace_probe_find_type(const char *name, size_t len);
int print_type_u8(struct trace_seq *s, void *data, void *ent);
int print_type_string(struct trace_seq *s, void *data, void *ent);

/**
 * struct probe_arg - one argument of a probe
 * @code:	its program
 * @dynamic:	part of it stands behind the fixed part of the entry
 * @copy_size:	if not 0, the program comes to this: copy so many bytes of
 *		pt_regs (1, 2, 4 or 8)
 * @copy_from:	... from this offset
 * @offset:	where it is in the entry, behind the head
 * @count:	elements, 0 if it is no array
 * @name:	its name, owned
 * @comm:	its text, as it was defined, owned
 * @fmt:	its C type when it is an array ("u8[4]"), owned; or NULL
 * @type:	the type of an element
 */
struct probe_arg {
	struct fetch_insn	*code;
	bool			dynamic;
	u8			copy_size;
	u16			copy_from;
	unsigned int		offset;
	unsigned int		count;
	const char		*name;
	const char		*comm;
	char			*fmt;
	const struct fetch_type	*type;
};

/* What a return probe's entry leaves for its return: a program, and how much. */
struct probe_entry_arg {
	struct fetch_insn	*code;	/* pairs of a value and an ST_EDATA, then END */
	unsigned int		size;	/* bytes */
};

struct trace_uprobe_filter {
	rwlock_t		rwlock;
	int			nr_systemwide;
	struct list_head	perf_events;
};

/* What a hit of a uprobe passes to its fetch instructions. */
struct trace_uprobe;

struct uprobe_dispatch_data {
	struct trace_uprobe	*tu;
	unsigned long		bp_addr;
};

/* trace_probe_event.flags: who wants the hits. */
#define TP_FLAG_TRACE		1	/* one or more event files */
#define TP_FLAG_PROFILE		2	/* perf, and BPF through it */

/**
 * struct trace_probe_event - an event, as the rest of tracing sees it
 * @flags:	TP_FLAG_*; written under event_mutex, read by every hit
 * @class:	of @call; its system name is owned
 * @call:	the event; its name and print_fmt are owned
 * @files:	event_file_links: the trace instances in which it is enabled
 * @probes:	the trace_probes behind it, the first defined first
 * @node:	in the table of registered events; see trace_probe.c
 * @grace:	RCU's state when it was last disabled for a file: hits that saw
 *		the file are over when a grace period from there is
 * @filter:	of uprobe events alone: one element, or none
 *
 * 256 bytes, and there may be thousands: one more doubles what is allocated.
 */
struct trace_probe_event {
	unsigned int			flags;
	struct trace_event_class	class;
	struct trace_event_call		call;
	struct list_head		files;
	struct list_head		probes;
	struct hlist_node		node;
	unsigned long			grace;
	struct trace_uprobe_filter	filter[];
};

/**
 * struct trace_probe - one place that was defined under an event
 * @list:	in the event's @probes
 * @event:	the event
 * @size:	bytes of the arguments' fixed part
 * @nr_args:	how many @args there are, as trace_probe_init() was told; one that
 *		is not parsed yet is all zeroes
 * @nr_dynamic:	how many of them are dynamic; 0: an entry's size is known
 * @entry_arg:	for a return probe that reads something at the entry, or NULL
 * @args:	the arguments
 */
struct trace_probe {
	struct list_head		list;
	struct trace_probe_event	*event;
	ssize_t				size;
	unsigned int			nr_args;
	unsigned int			nr_dynamic;
	struct probe_entry_arg		*entry_arg;
	struct probe_arg		args[];
};

/* An instance's event file, in which the event is enabled. */
struct event_file_link {
	struct trace_event_file	*file;
	struct list_head	list;
	struct rcu_head		rcu;
};

static inline unsigned int trace_probe_load_flag(struct trace_probe *tp)
{
	/* Pairs with trace_probe_set_flag(): a hit that sees the flag sees the file. */
	return smp_load_acquire(&tp->event->flags);
}

static inline bool trace_probe_test_flag(struct trace_probe *tp,
					 unsigned int flag)
{
	return trace_probe_load_flag(tp) & flag;
}

static inline void trace_probe_set_flag(struct trace_probe *tp,
					unsigned int flag)
{
	/* Pairs with trace_probe_load_flag(). */
	smp_store_release(&tp->event->flags, tp->event->flags | flag);
}

static inline void trace_probe_clear_flag(struct trace_probe *tp,
					  unsigned int flag)
{
	WRITE_ONCE(tp->event->flags, tp->event->flags & ~flag);
}

static inline bool trace_probe_is_enabled(struct trace_probe *tp)
{
	return trace_probe_load_flag(tp) != 0;
}

/* From a probe to its event, the event's names and its probes */

static inline struct trace_event_call *
trace_probe_event_call(struct trace_probe *tp)
{
	return &tp->event->call;
}

static inline const char *trace_probe_group_name(struct trace_probe *tp)
{
	return tp->event->class.system;
}

static inline const char *trace_probe_name(struct trace_probe *tp)
{
	return trace_event_name(trace_probe_event_call(tp));
}

static inline struct list_head *trace_probe_probe_list(struct trace_probe *tp)
{
	return &tp->event->probes;
}

static inline bool trace_probe_has_sibling(struct trace_probe *tp)
{
	return !list_is_singular(trace_probe_probe_list(tp));
}

static inline bool trace_probe_has_single_file(struct trace_probe *tp)
{
	return list_is_singular(&tp->event->files);
}

/* From an event to the first of its probes: it stands for them all. */

static inline struct trace_probe_event *
trace_probe_event_from_call(struct trace_event_call *call)
{
	return container_of(call, struct trace_probe_event, call);
}

static inline struct trace_probe *
trace_probe_primary_from_call(struct trace_event_call *call)
{
	struct list_head *probes = &trace_probe_event_from_call(call)->probes;

	return list_first_entry_or_null(probes, struct trace_probe, list);
}

/* Under event_mutex, or rcu_read_lock_sched() or the like. */
#define trace_probe_for_each_link(pos, tp)				\
	list_for_each_entry(pos, &(tp)->event->files, list)
#define trace_probe_for_each_link_rcu(pos, tp)				\
	list_for_each_entry_rcu(pos, &(tp)->event->files, list)

/* trace_probe.c: an event and the probes behind it */
int trace_probe_init(struct trace_probe *tp, const char *event,
		     const char *group, bool alloc_filter, int nargs);
void trace_probe_cleanup(struct trace_probe *tp);
int trace_probe_append(struct trace_probe *tp, struct trace_probe *to);
void trace_probe_unlink(struct trace_probe *tp);
int trace_probe_register_event_call(struct trace_probe *tp);
int trace_probe_unregister_event_call(struct trace_probe *tp);
int trace_probe_add_file(struct trace_probe *tp, struct trace_event_file *file);
int trace_probe_remove_file(struct trace_probe *tp,
			    struct trace_event_file *file);
struct event_file_link *trace_probe_get_file_link(struct trace_probe *tp,
						  struct trace_event_file *file);
int trace_probe_compare_arg_type(struct trace_probe *a, struct trace_probe *b);
bool trace_probe_match_command_args(struct trace_probe *tp,
				    int argc, const char **argv);
int trace_probe_create(const char *raw_command, int (*createfn)(int, const char **));

/* trace_probe_print.c: what user space reads of an event */
enum probe_print_type {
	PROBE_PRINT_NORMAL,
	PROBE_PRINT_RETURN,
	PROBE_PRINT_EVENT,
};

int traceprobe_set_print_fmt(struct trace_probe *tp, enum probe_print_type ptype);
int traceprobe_define_arg_fields(struct trace_event_call *event_call,
				 size_t offset, struct trace_probe *tp);
int trace_probe_print_args(struct trace_seq *s, struct probe_arg *args, int nr_args,
			   u8 *data, void *field);

/* traceprobe_parse_context.flags: where the probe is. */
#define TPARG_FL_RETURN		BIT(0)	/* at a return */
#define TPARG_FL_KERNEL		BIT(1)
#define TPARG_FL_FENTRY		BIT(2)	/* at a function's first instruction */
#define TPARG_FL_TEVENT		BIT(3)	/* on another event */
#define TPARG_FL_USER		BIT(4)
#define TPARG_FL_FPROBE		BIT(5)	/* through an fprobe: no registers by name */
#define TPARG_FL_TPOINT		BIT(6)	/* on a tracepoint */
#define TPARG_FL_KPROBE		BIT(7)	/* through a kprobe: CLOCK and LATENCY are known */
#define TPARG_FL_GLOB		BIT(8)	/* on a pattern: @funcname is one of several */
#define TPARG_FL_LOC_MASK	GENMASK(4, 0)

static inline bool tparg_is_function_entry(unsigned int flags)
{
	return (flags & TPARG_FL_LOC_MASK) == (TPARG_FL_KERNEL | TPARG_FL_FENTRY);
}

static inline bool tparg_is_function_return(unsigned int flags)
{
	return (flags & TPARG_FL_LOC_MASK) == (TPARG_FL_KERNEL | TPARG_FL_RETURN);
}

static inline bool tparg_is_event_probe(unsigned int flags)
{
	return flags & TPARG_FL_TEVENT;
}

/**
 * struct traceprobe_parse_context - what the arguments of one probe share
 * @event:	the event that an event probe stands on
 * @funcname:	the probed function, if it has a name
 * @proto:	its prototype, found at need
 * @params:	its parameters, @nr_params
 * @btf:	what they are from; traceprobe_finish_parse() lets go of it
 * @last_type:	of the BTF variable parsed last
 * @last_bitoffs: and the bit field that it was, if @last_bitsize is not 0
 * @tp:		the probe
 * @flags:	TPARG_FL_*
 * @offset:	of what is being parsed, in its argument's text
 */
struct traceprobe_parse_context {
	struct trace_event_call	*event;
	const char		*funcname;
	const struct btf_type	*proto;
	const struct btf_param	*params;
	s32			nr_params;
	struct btf		*btf;
	const struct btf_type	*last_type;
	u32			last_bitoffs;
	u32			last_bitsize;
	struct trace_probe	*tp;
	unsigned int		flags;
	int			offset;
};

/* trace_probe_parse.c: from text to fetch instructions */
int traceprobe_parse_event_name(const char **pevent, const char **pgroup,
				char *buf, int offset);
int traceprobe_parse_probe_arg(struct trace_probe *tp, int i, const char *argv,
			       struct traceprobe_parse_context *ctx);
void traceprobe_finish_parse(struct traceprobe_parse_context *ctx);
int traceprobe_split_symbol_offset(char *symbol, long *offset);
int traceprobe_update_arg(struct probe_arg *arg);
int traceprobe_get_entry_data_size(struct trace_probe *tp);
void traceprobe_free_probe_arg(struct probe_arg *arg);

/* trace_probe_expand.c: words that stand for several arguments, or for others */
const char **traceprobe_expand_meta_args(int argc, const char *argv[],
					 int *new_argc, char *buf, int bufsize,
					 struct traceprobe_parse_context *ctx);
int traceprobe_expand_dentry_args(int argc, const char *argv[], char **buf);

/* trace_probe_btf.c */
#ifdef CONFIG_PROBE_EVENTS_BTF_ARGS
bool trace_probe_same_prototype(const char *func, const char *other);
#else
static inline bool trace_probe_same_prototype(const char *func, const char *other)
{
	return false;	/* nobody knows */
}
#endif

/*
 * trace_probe_log.c: where a definition is wrong
 *
 * The command is given once, the argument by its index; an error then names a
 * column of that argument.  All under dyn_event_ops_mutex.
 */
#undef C				/* trace.h leaves one */
#define C(name, text)	TP_ERR_##name,
enum {
#include "trace_probe_errors.h"
};

#undef C

void trace_probe_log_init(const char *subsystem, int argc, const char **argv);
void trace_probe_log_set_index(int index);
void trace_probe_log_set_expansion(int index, int nr);
void trace_probe_log_clear(void);
void __trace_probe_log_err(int offset, int err);

#define trace_probe_log_err(offs, err)	\
	__trace_probe_log_err(offs, TP_ERR_##err)

/* trace_kprobe*.c, for perf and BPF */
#ifdef CONFIG_KPROBE_EVENTS
bool trace_kprobe_on_func_entry(struct trace_event_call *call);
bool trace_kprobe_error_injectable(struct trace_event_call *call);
#else
static inline bool trace_kprobe_on_func_entry(struct trace_event_call *call)
{
	return false;
}

static inline bool trace_kprobe_error_injectable(struct trace_event_call *call)
{
	return false;
}
#endif

#ifdef CONFIG_PERF_EVENTS
struct trace_event_call *
create_local_trace_kprobe(char *func, void *addr, unsigned long offs,
			  bool is_return);
void destroy_local_trace_kprobe(struct trace_event_call *event_call);

struct trace_event_call *
create_local_trace_uprobe(char *name, unsigned long offs,
			  unsigned long ref_ctr_offset, bool is_return);
void destroy_local_trace_uprobe(struct trace_event_call *event_call);
#endif

#endif /* _TRACE_PROBE_H */
