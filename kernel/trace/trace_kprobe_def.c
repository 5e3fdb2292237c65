// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: from a definition to an event.
 *
 *	p[:[GRP/][EVENT]] [MOD:]SYM[+OFFS]|[MOD:]PATTERN|MEMADDR[%return] [FETCHARGS]
 *	r[MAXACTIVE][:[GRP/][EVENT]] [MOD:]SYM[+0]|[MOD:]PATTERN|MEMADDR [FETCHARGS]
 *
 * The one idea: a definition is read in steps, each of which knows what those before
 * it have found, and any of which may refuse it.  Whatever a step has taken is in
 * struct definition, and given back in one place.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_kprobe.h"
#include "trace_probe_lex.h"

/* Instances are found by walking a list: their number is to stay reasonable. */
#define KRETPROBE_MAXACTIVE_MAX	4096

/* The words of a definition, as the error log counts them. */
enum {
	WORD_HEAD,
	WORD_PLACE,
	WORD_ARGS,
};

/**
 * struct definition - what is known of a definition
 * @argc:	its words
 * @argv:	... are here
 * @group:	of the event
 * @event:	the event's name; NULL: it is not given
 * @place:	[MOD:]SYM or [MOD:]PATTERN; NULL for an address
 * @addr:	the address, else NULL
 * @offset:	of a symbol
 * @maxactive:	0: not given
 * @is_return:	a return probe
 * @is_glob:	@place has a pattern
 * @nr_args:	the arguments, as they are to be parsed
 * @args:	... are here
 * @expanded:	the array, if it is not part of @argv
 * @dentries:	words made for %pd and %pD
 * @ctx:	for the parser of the arguments
 * @proto_word:	the word that asked for the prototype, 0: none has
 * @tk:		the probe
 * @event_buf:	room for @event
 * @group_buf:	room for @group
 * @meta_buf:	room for what $arg* stands for
 * @func_buf:	room for the function's name
 */
struct definition {
	int				argc;
	const char			**argv;
	const char			*group;
	const char			*event;
	char				*place;
	void				*addr;
	unsigned long			offset;
	unsigned int			maxactive;
	bool				is_return;
	bool				is_glob;
	int				nr_args;
	const char			**args;
	const char			**expanded;
	char				*dentries;
	struct traceprobe_parse_context	ctx;
	int				proto_word;
	struct trace_kprobe		*tk;
	char				event_buf[MAX_EVENT_NAME_LEN];
	char				group_buf[MAX_EVENT_NAME_LEN];
	char				meta_buf[MAX_BTF_ARGS_LEN];
	char				func_buf[KSYM_NAME_LEN];
};

static int refuse_at(int word, int column, int error)
{
	trace_probe_log_set_index(word);
	__trace_probe_log_err(column, error);
	return -EINVAL;
}

/* The first word */

/* What stands between the letter and the colon. */
static int parse_maxactive(struct definition *d, const struct probe_span *number)
{
	if (!number->len)
		return 0;
	if (!d->is_return)
		return refuse_at(WORD_HEAD, number->offset, TP_ERR_BAD_MAXACT_TYPE);
	if (probe_span_to_uint(number, &d->maxactive) || !d->maxactive)
		return refuse_at(WORD_HEAD, number->offset, TP_ERR_BAD_MAXACT);
	if (d->maxactive > KRETPROBE_MAXACTIVE_MAX)
		return refuse_at(WORD_HEAD, number->offset, TP_ERR_MAXACT_TOO_BIG);
	return 0;
}

static int step_head(struct definition *d)
{
	struct probe_span text = probe_span_of(d->argv[WORD_HEAD]), number;
	int err;

	/* It is one of the two. */
	d->is_return = probe_lex_take(&text, 'r');
	probe_lex_take(&text, 'p');
	number = probe_lex_until(&text, ":");
	err = parse_maxactive(d, &number);
	if (err)
		return err;

	d->group = KPROBE_EVENT_SYSTEM;
	if (!probe_lex_take(&text, ':'))
		return 0;
	d->event = text.text;
	trace_probe_log_set_index(WORD_HEAD);
	return traceprobe_parse_event_name(&d->event, &d->group, d->group_buf, text.offset);
}

/* The second word: the place */

static int refuse_place(int column, int error)
{
	return refuse_at(WORD_PLACE, column, error);
}

/* Is one of @chars in @text? */
static bool has_any(struct probe_span text, const char *chars)
{
	probe_lex_until(&text, chars);
	return text.len;
}

static int parse_address(struct definition *d, const struct probe_span *text)
{
	unsigned long addr;

	if (probe_span_to_ulong(text, 0, &addr) || !addr)
		return refuse_place(0, TP_ERR_BAD_PROBE_ADDR);
	d->addr = (void *)addr;
	return 0;
}

/* Is all of @name of letters, digits and those of @also? */
static bool is_made_of(const struct probe_span *name, const char *also)
{
	unsigned int i;

	for (i = 0; i < name->len; i++)
		if (!isalnum(name->text[i]) && !strchr(also, name->text[i]))
			return false;
	return name->len;
}

/* "[MOD:]SYM", where @also may be in SYM. */
static bool is_symbol(struct probe_span text, const char *also)
{
	struct probe_span first = probe_lex_until(&text, ":");

	if (!probe_lex_take(&text, ':'))
		text = first;
	else if (!is_made_of(&first, "_."))
		return false;
	return !isdigit(probe_span_first(&text)) && is_made_of(&text, also);
}

static int keep_place(struct definition *d, const struct probe_span *text)
{
	d->place = probe_span_dup(text);
	return d->place ? 0 : -ENOMEM;
}

static int parse_pattern(struct definition *d, struct probe_span text)
{
	struct probe_span pattern = probe_lex_until(&text, "+");

	if (text.len)
		return refuse_place(text.offset, TP_ERR_GLOB_OFFSET);
	if (!is_symbol(pattern, "_.$*?[]!^-\\"))
		return refuse_place(0, TP_ERR_BAD_PROBE_ADDR);
	d->is_glob = true;
	return keep_place(d, &pattern);
}

static int parse_symbol(struct definition *d, struct probe_span text)
{
	struct probe_span symbol = probe_lex_until(&text, "+-");
	long offset = 0;

	if ((text.len && probe_span_to_long(&text, &offset)) || offset < 0 ||
	    !is_symbol(symbol, "_.$"))
		return refuse_place(0, TP_ERR_BAD_PROBE_ADDR);
	d->offset = offset;
	return keep_place(d, &symbol);
}

static int step_place(struct definition *d)
{
	struct probe_span text, place;

	if (d->argc <= WORD_PLACE)
		return refuse_at(WORD_HEAD, strlen(d->argv[WORD_HEAD]), TP_ERR_NO_PLACE);
	text = probe_span_of(d->argv[WORD_PLACE]);
	place = probe_lex_until(&text, "%");
	if (text.len) {
		if (!probe_span_is(&text, "%return"))
			return refuse_place(text.offset, TP_ERR_BAD_ADDR_SUFFIX);
		d->is_return = true;
	}
	/* A module's name may begin with a digit. */
	if (isdigit(probe_span_first(&place)) && !has_any(place, ":"))
		return parse_address(d, &place);
	return has_any(place, "*?[") ? parse_pattern(d, place) : parse_symbol(d, place);
}

/* A name made from the place: letters, digits and "_" are left of it. */
static int step_name(struct definition *d)
{
	char type = d->is_return ? 'r' : 'p';
	char *c;

	if (d->event)
		return 0;
	if (d->addr)
		snprintf(d->event_buf, sizeof(d->event_buf), "%c_0x%p", type, d->addr);
	else
		snprintf(d->event_buf, sizeof(d->event_buf), "%c_%s_%lu", type, d->place,
			 d->offset);
	for (c = d->event_buf; *c; c++)
		if (!isalnum(*c))
			*c = '_';
	d->event = d->event_buf;
	return 0;
}

/* What the arguments may be: where is the probe, and in which function? */
static void set_location(struct definition *d, bool on_entry)
{
	d->ctx.flags = TPARG_FL_KERNEL | TPARG_FL_KPROBE;
	if (d->is_return)
		d->ctx.flags |= TPARG_FL_RETURN;
	else if (on_entry)
		d->ctx.flags |= TPARG_FL_FENTRY;
}

static int locate_pattern(struct definition *d)
{
	int err = trace_kprobe_first_match(d->place, d->func_buf);

	if (!err) {
		d->ctx.funcname = d->func_buf;
	} else if (err != -ENOENT || !trace_kprobe_awaits_module(d->place)) {
		refuse_place(0, TP_ERR_NO_GLOB_MATCH);
		return err;
	}
	set_location(d, true);
	d->ctx.flags |= TPARG_FL_GLOB;
	return 0;
}

static const char *function_at(struct definition *d)
{
	char *module;

	if (d->addr)
		return kallsyms_lookup((unsigned long)d->addr, NULL, NULL, &module, d->func_buf);
	return strchr(d->place, ':') ? strchr(d->place, ':') + 1 : d->place;
}

static int step_locate(struct definition *d)
{
	int err;

	if (d->is_glob)
		return locate_pattern(d);

	err = kprobe_on_func_entry(d->addr, d->addr ? NULL : d->place, d->offset);
	/* That it is a function may turn out wrong, but so it can be asked for. */
	if (err == -ENOENT && !d->offset && trace_kprobe_awaits_module(d->place))
		err = 0;
	if (err == -EINVAL && d->is_return)
		return refuse_place(0, TP_ERR_BAD_RETPROBE);
	if (err == -ENOENT && !trace_kprobe_awaits_module(d->place))
		return refuse_place(0, TP_ERR_BAD_PROBE_ADDR);
	set_location(d, !err);
	if (!err || !d->addr)
		d->ctx.funcname = function_at(d);
	return 0;
}

/* The other words: the arguments */

static int step_expand(struct definition *d)
{
	int nr = d->argc - WORD_ARGS;
	int err;

	d->nr_args = nr;
	d->args = d->argv + WORD_ARGS;
	d->expanded = traceprobe_expand_meta_args(nr, d->args, &d->nr_args, d->meta_buf,
						  sizeof(d->meta_buf), &d->ctx);
	if (IS_ERR(d->expanded)) {
		err = PTR_ERR(d->expanded);
		d->expanded = NULL;
		return err;
	}
	if (d->expanded)
		d->args = d->expanded;
	else
		d->nr_args = nr;
	if (d->nr_args > MAX_TRACE_ARGS) {
		refuse_at(MAX_TRACE_ARGS + WORD_ARGS, 0, TP_ERR_EVENT_TOO_BIG);
		return -E2BIG;
	}
	return traceprobe_expand_dentry_args(d->nr_args, d->args, &d->dentries);
}

static int step_alloc(struct definition *d)
{
	struct trace_kprobe *tk;

	tk = trace_kprobe_alloc(d->group, d->event, d->nr_args, d->is_return);
	if (IS_ERR(tk))
		return PTR_ERR(tk);
	d->tk = tk;
	tk->maxactive = d->maxactive;
	tk->offset = d->offset;
	tk->is_glob = d->is_glob;
	if (d->addr)
		return 0;
	tk->symbol = kstrdup(d->place, GFP_KERNEL);
	return tk->symbol ? 0 : -ENOMEM;
}

/* The word in which the prototype was asked for before the arguments are parsed. */
static int meta_word(const struct definition *d)
{
	int i;

	for (i = WORD_ARGS; i < d->argc; i++)
		if (!strcmp(d->argv[i], "$arg*"))
			return i;
	return WORD_PLACE;
}

static int step_args(struct definition *d)
{
	int i, err = 0;

	if (d->ctx.proto)
		d->proto_word = meta_word(d);
	for (i = 0; i < d->nr_args && !err; i++) {
		trace_probe_log_set_index(i + WORD_ARGS);
		d->ctx.offset = 0;
		err = traceprobe_parse_probe_arg(&d->tk->tp, i, d->args[i], &d->ctx);
		if (d->ctx.proto && !d->proto_word)
			d->proto_word = i + WORD_ARGS;
	}
	return err;
}

static int step_members(struct definition *d)
{
	int err;

	if (d->addr)
		return trace_kprobe_add_address(d->tk, d->addr);
	err = trace_kprobe_add_symbol(d->tk);
	if (err == -EADDRNOTAVAIL)
		return refuse_place(0, TP_ERR_NON_UNIQ_SYMBOL);
	if (err != -ENOENT)
		return err;
	refuse_place(0, d->is_glob ? TP_ERR_NO_GLOB_MATCH : TP_ERR_BAD_PROBE_ADDR);
	return d->is_glob ? err : -EINVAL;
}

/* Is what an argument was told by the prototype of one member true of all? */
static bool members_agree(struct definition *d)
{
	struct trace_kprobe_member *m;
	char name[KSYM_NAME_LEN];
	char *module;

	for_each_member(m, trace_kprobe_members(d->tk)) {
		const char *func = kallsyms_lookup((unsigned long)m->rp.kp.addr, NULL, NULL,
						   &module, name);

		if (!func || !trace_probe_same_prototype(d->ctx.funcname, func))
			return false;
		cond_resched();
	}
	return true;
}

static int step_prototypes(struct definition *d)
{
	if (!d->is_glob || !d->ctx.proto || members_agree(d))
		return 0;
	return refuse_at(d->proto_word, 0, TP_ERR_GLOB_PROTO);
}

static int place_error(int err)
{
	if (err == -EILSEQ)
		return TP_ERR_BAD_INSN_BNDRY;
	return err == -ENOENT ? TP_ERR_BAD_PROBE_ADDR : TP_ERR_FAIL_REG_PROBE;
}

static int step_register(struct definition *d)
{
	int err;

	err = traceprobe_set_print_fmt(&d->tk->tp, d->is_return ? PROBE_PRINT_RETURN :
								  PROBE_PRINT_NORMAL);
	if (err)
		return err;
	err = trace_kprobe_register(d->tk);
	if (!err)
		d->tk = NULL;	/* not ours any more */
	else if (err != -ENOMEM && err != -EEXIST)
		refuse_place(0, place_error(err));
	return err;
}

static int (* const steps[])(struct definition *d) = {
	step_head,
	step_place,
	step_name,
	step_locate,
	step_expand,
	step_alloc,
	step_args,
	step_members,		/* late: a pattern has all symbols walked through */
	step_prototypes,
	step_register,
};

static void definition_free(struct definition *d)
{
	traceprobe_finish_parse(&d->ctx);
	trace_kprobe_free(d->tk);
	kfree(d->expanded);
	kfree(d->dentries);
	kfree(d->place);
	kfree(d);
}

/* A file and an offset in it: the uprobe events' line. */
static bool is_for_uprobes(const char *place)
{
	const char *slash = strchr(place, '/');

	return slash && strchr(slash, ':');
}

/**
 * trace_kprobe_parse() - make an event of a definition
 * @argc:	words of it
 * @argv:	the words
 *
 * Says in the error log what is wrong with it, and where.
 *
 * Context: dyn_event_ops_mutex held; may sleep.
 * Return: 0; -ECANCELED: it is not ours; -EINVAL: it is wrong; -ENOENT: a pattern
 * that matches nothing; -E2BIG: too many arguments; -EILSEQ: no instruction begins
 * there; -EEXIST: the name is taken; -ENOMEM; else as trace_kprobe_register().
 */
int trace_kprobe_parse(int argc, const char *argv[])
{
	struct definition *d;
	int i, err = 0;

	if (argv[WORD_HEAD][0] != 'p' && argv[WORD_HEAD][0] != 'r')
		return -ECANCELED;
	if (argc > WORD_PLACE && is_for_uprobes(argv[WORD_PLACE]))
		return -ECANCELED;

	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	d->argc = argc;
	d->argv = argv;

	trace_probe_log_init("trace_kprobe", argc, argv);
	for (i = 0; i < ARRAY_SIZE(steps) && !err; i++)
		err = steps[i](d);
	trace_probe_log_clear();
	definition_free(d);
	return err;
}
