// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events that other parts of the kernel define.
 *
 * The one idea: they write the line that a user would write, piece by piece, and
 * have it parsed.  What is told in error_log is told to them, too.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"

static int run_definition(struct dynevent_cmd *cmd)
{
	return dyn_event_create(cmd->seq.buffer, &trace_kprobe_ops);
}

/**
 * kprobe_event_cmd_init() - begin the definition of a kprobe event
 * @cmd:	the definition
 * @buf:	where its text goes
 * @maxlen:	bytes of @buf
 *
 * Then comes kprobe_event_gen_cmd_start() or kretprobe_event_gen_cmd_start().
 *
 * Context: any.
 */
void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen)
{
	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_KPROBE, run_definition);
}
EXPORT_SYMBOL_GPL(kprobe_event_cmd_init);

static int add_word(struct dynevent_cmd *cmd, const char *word)
{
	struct dynevent_arg arg;

	dynevent_arg_init(&arg, 0);
	arg.str = word;
	return dynevent_arg_add(cmd, &arg, NULL);
}

/* The arguments up to a NULL. */
static int add_fields(struct dynevent_cmd *cmd, va_list fields)
{
	const char *field;
	int err;

	while ((field = va_arg(fields, const char *))) {
		if (++cmd->n_fields > MAX_TRACE_ARGS)
			return -EINVAL;
		err = add_word(cmd, field);
		if (err)
			return err;
	}
	return 0;
}

/**
 * __kprobe_event_gen_cmd_start() - name an event and its place
 * @cmd:	the definition, fresh from kprobe_event_cmd_init()
 * @kretprobe:	at the return
 * @name:	"[GRP/]EVENT"
 * @loc:	the place, as in kprobe_events; arguments may follow in the same string
 * @...:	arguments, the last one NULL
 *
 * Callers use kprobe_event_gen_cmd_start() and kretprobe_event_gen_cmd_start().
 *
 * Context: any.
 * Return: 0; -EINVAL: not begun as a kprobe event, no place, or too many arguments;
 * -E2BIG: longer than the buffer.
 */
int __kprobe_event_gen_cmd_start(struct dynevent_cmd *cmd, bool kretprobe,
				 const char *name, const char *loc, ...)
{
	va_list fields;
	int err;

	if (cmd->type != DYNEVENT_TYPE_KPROBE || !name || !loc)
		return -EINVAL;
	err = dynevent_str_add(cmd, kretprobe ? "r:" : "p:");
	err = err ?: dynevent_str_add(cmd, name);
	err = err ?: add_word(cmd, loc);
	if (err)
		return err;

	va_start(fields, loc);
	err = add_fields(cmd, fields);
	va_end(fields);
	return err;
}
EXPORT_SYMBOL_GPL(__kprobe_event_gen_cmd_start);

/**
 * __kprobe_event_add_fields() - more arguments
 * @cmd:	the definition, begun
 * @...:	arguments, the last one NULL
 *
 * Callers use kprobe_event_add_fields() and kprobe_event_add_field().
 *
 * Context: any.
 * Return: 0; -EINVAL: not a kprobe event, or too many; -E2BIG: longer than the buffer.
 */
int __kprobe_event_add_fields(struct dynevent_cmd *cmd, ...)
{
	va_list fields;
	int err;

	if (cmd->type != DYNEVENT_TYPE_KPROBE)
		return -EINVAL;
	va_start(fields, cmd);
	err = add_fields(cmd, fields);
	va_end(fields);
	return err;
}
EXPORT_SYMBOL_GPL(__kprobe_event_add_fields);

/**
 * kprobe_event_delete() - delete a kprobe event
 * @name:	"[GRP/]EVENT"
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: there is none; -EBUSY: it is in use; -ENOMEM.
 */
int kprobe_event_delete(const char *name)
{
	char *command __free(kfree) = kasprintf(GFP_KERNEL, "-:%s", name);

	if (!command)
		return -ENOMEM;
	return dyn_event_release(command, &trace_kprobe_ops);
}
EXPORT_SYMBOL_GPL(kprobe_event_delete);
