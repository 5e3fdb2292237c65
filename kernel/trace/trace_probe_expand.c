// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: words that stand for other words.
 *
 * The one idea: what is only another way to write something is rewritten before
 * anything is parsed, so the parser need not know of it and the list of events
 * shows what was meant.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe_parse.h"

/* The words of a definition before its arguments. */
#define WORDS_BEFORE_ARGS	2

/*
 * $arg*, and $argN that has no name
 */

/**
 * struct expansion - of one list of arguments
 * @ctx:	what is known of the function
 * @argv:	the list as it will be
 * @argc:	how long it is, so far
 * @buf:	where words are kept that are neither given nor names in BTF
 * @room:	what is left of it
 */
struct expansion {
	struct traceprobe_parse_context	*ctx;
	const char			**argv;
	int				argc;
	char				*buf;
	int				room;
};

static bool is_all_params(const char *word)
{
	return !strcmp(word, "$arg*");
}

/* Is @word "$argN" or "$argN:TYPE"?  Then @number is N, and @cast what follows. */
static bool is_param(const char *word, struct probe_span *number, struct probe_span *cast)
{
	*cast = probe_span_of(word);
	if (!probe_span_has_prefix(cast, "$arg"))
		return false;
	probe_lex_skip(cast, strlen("$arg"));
	*number = probe_lex_until(cast, ":");
	return probe_span_is_digits(number);
}

/* Which word is to be all parameters, -1 if none is, or an errno. */
static int find_all_params(int argc, const char *argv[])
{
	int i, found = -1;

	for (i = 0; i < argc; i++) {
		if (!is_all_params(argv[i]))
			continue;
		if (found >= 0) {
			trace_probe_log_set_index(i + WORDS_BEFORE_ARGS);
			return probe_error(0, DOUBLE_ARGS, -EINVAL);
		}
		found = i;
	}
	return found;
}

static bool has_params(int argc, const char *argv[])
{
	struct probe_span number, cast;
	int i;

	for (i = 0; i < argc; i++)
		if (is_param(argv[i], &number, &cast))
			return true;
	return false;
}

static void add_all_params(struct expansion *e)
{
	const char *name;
	int i;

	for (i = 0; i < e->ctx->nr_params; i++) {
		name = probe_btf_param_name(e->ctx, i);
		if (name)
			e->argv[e->argc++] = name;
	}
}

/* Parameters have names; show them. */
static int add_param(struct expansion *e, const char *word)
{
	struct probe_span number, cast;
	unsigned long index;
	const char *name;
	int len;

	e->argv[e->argc] = word;
	if (!is_param(word, &number, &cast) || !probe_btf_knows(e->ctx))
		goto done;
	/* What is no number of a parameter at all is the parser's to refuse. */
	if (probe_span_to_ulong(&number, 10, &index) || !index)
		goto done;
	if (index > e->ctx->nr_params)
		return probe_error(0, NO_BTFARG, -ENOENT);
	name = probe_btf_param_name(e->ctx, index - 1);
	if (!name)
		goto done;
	if (!cast.len) {
		e->argv[e->argc] = name;
		goto done;
	}

	len = snprintf(e->buf, e->room, "%s%s", name, cast.text);
	if (len >= e->room)
		return probe_error(0, ARGS_2LONG, -E2BIG);
	e->argv[e->argc] = e->buf;
	e->buf += len + 1;
	e->room -= len + 1;
done:
	e->argc++;
	return 0;
}

static int check_all_params(struct traceprobe_parse_context *ctx, int word)
{
	trace_probe_log_set_index(word + WORDS_BEFORE_ARGS);
	if (!tparg_knows_params(ctx->flags) || !ctx->funcname)
		return probe_error(0, NOFENTRY_ARGS, -EINVAL);
	if (!probe_btf_knows(ctx) || !ctx->nr_params)
		return probe_error(0, NOSUP_BTFARG, -EOPNOTSUPP);
	return 0;
}

static int expand_words(struct expansion *e, int argc, const char *argv[])
{
	int i, err = 0;

	for (i = 0; i < argc && !err; i++) {
		trace_probe_log_set_index(i + WORDS_BEFORE_ARGS);
		if (is_all_params(argv[i]))
			add_all_params(e);
		else
			err = add_param(e, argv[i]);
	}
	return err;
}

/**
 * traceprobe_expand_meta_args() - replace what stands for parameters
 * @argc:	how many arguments there are
 * @argv:	the arguments
 * @new_argc:	set to how many there will be
 * @buf:	what new words are kept in, as long as the new list is
 * @bufsize:	bytes of it
 * @ctx:	what is known of the probed function
 *
 * "$arg*" becomes all parameters that have a name, "$argN" that parameter's name.
 *
 * Context: may sleep; under dyn_event_ops_mutex.
 * Return: NULL: nothing is replaced; the new list, to be freed, whose words are
 * good until traceprobe_finish_parse(); or an ERR_PTR(), and the log says why.
 */
const char **traceprobe_expand_meta_args(int argc, const char *argv[],
					 int *new_argc, char *buf, int bufsize,
					 struct traceprobe_parse_context *ctx)
{
	struct expansion e = { .ctx = ctx, .buf = buf, .room = bufsize };
	int all = find_all_params(argc, argv);
	int err = 0;

	if (all < -1)
		return ERR_PTR(all);
	if (all < 0 && (ctx->flags & TPARG_FL_GLOB || !has_params(argc, argv)))
		return NULL;
	if (all >= 0)
		err = check_all_params(ctx, all);
	else if (!probe_btf_knows(ctx) || !ctx->nr_params)
		return NULL;	/* of assembly, BTF may say that there are none */
	if (err)
		return ERR_PTR(err);

	e.argv = kcalloc(argc + ctx->nr_params, sizeof(*e.argv), GFP_KERNEL);
	if (!e.argv)
		return ERR_PTR(-ENOMEM);
	err = expand_words(&e, argc, argv);
	if (err) {
		kfree(e.argv);
		return ERR_PTR(err);
	}
	if (all >= 0)
		trace_probe_log_set_expansion(all + WORDS_BEFORE_ARGS, e.argc - argc + 1);
	*new_argc = e.argc;
	return e.argv;
}

/*
 * Types that are names for a way to something
 */

/* [NAME=]VALUE:ALIAS, taken apart. */
struct alias_word {
	const struct probe_type_alias	*alias;
	const char			*value;
	int				name_len;	/* with the "=" */
	int				value_len;
};

static bool split_alias_word(struct alias_word *w, const char *word)
{
	const char *colon = strrchr(word, ':'), *equals = strchr(word, '=');

	w->alias = colon ? trace_probe_find_alias(colon + 1) : NULL;
	if (!w->alias)
		return false;
	w->value = equals ? equals + 1 : word;
	w->name_len = w->value - word;
	w->value_len = colon - w->value;
	return true;
}

/* Characters that it takes the long way, at most, with its NUL. */
static int alias_room(const char *word, const struct alias_word *w)
{
	return strlen(word) + w->alias->nr_steps * sizeof("+0xffffffff()") +
	       strlen(w->alias->type) + 1;
}

/* Write it the long way; returns what is behind its NUL. */
static char *write_alias_word(char *buf, const char *end, const char *word,
			      const struct alias_word *w)
{
	unsigned int i;

	buf += scnprintf(buf, end - buf, "%.*s", w->name_len, word);
	/* What is followed last stands outside. */
	for (i = w->alias->nr_steps; i-- > 0;)
		buf += scnprintf(buf, end - buf, "+0x%x(", w->alias->steps[i]);
	buf += scnprintf(buf, end - buf, "%.*s", w->value_len, w->value);
	for (i = 0; i < w->alias->nr_steps; i++)
		buf += scnprintf(buf, end - buf, ")");
	buf += scnprintf(buf, end - buf, ":%s", w->alias->type);
	return buf + 1;
}

/**
 * traceprobe_expand_dentry_args() - replace the types that are names of files
 * @argc:	how many arguments there are
 * @argv:	the arguments; some are replaced
 * @buf:	set to what the new ones are kept in, to be freed; or to NULL
 *
 * Return: 0 or -ENOMEM.
 */
int traceprobe_expand_dentry_args(int argc, const char *argv[], char **buf)
{
	struct alias_word w;
	int i, size = 0;
	char *next, *end;

	*buf = NULL;
	for (i = 0; i < argc; i++)
		if (split_alias_word(&w, argv[i]))
			size += alias_room(argv[i], &w);
	if (!size)
		return 0;

	*buf = next = kmalloc(size, GFP_KERNEL);
	if (!next)
		return -ENOMEM;
	end = next + size;
	for (i = 0; i < argc; i++) {
		char *word = next;

		if (!split_alias_word(&w, argv[i]))
			continue;
		next = write_alias_word(next, end, argv[i], &w);
		argv[i] = word;
	}
	return 0;
}
