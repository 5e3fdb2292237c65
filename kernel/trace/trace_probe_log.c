// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the error log.
 *
 * The one idea: while a command is parsed, this file knows its words and which
 * of them is being looked at.  So the parsers name an error by its offset in
 * that word, and the column of the caret is computed in one place.
 */
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe.h"

/* By their numbers, which trace_probe.h takes from the same list. */
#undef C				/* trace.h leaves one */
#define C(name, text)	text,
static const char *error_texts[] = {
#include "trace_probe_errors.h"
};

#undef C

/* tracing_log_err() takes the number as a u8. */
static_assert(ARRAY_SIZE(error_texts) <= U8_MAX + 1);

/*
 * The command that is being parsed, or no subsystem.  Under dyn_event_ops_mutex,
 * but for perf's local events: they are not written as text, and never begin it.
 */
static struct {
	const char	*subsystem;
	const char	**argv;
	int		argc;
	int		index;
	int		expanded;	/* this word, if not 0, was replaced ... */
	int		replacements;	/* ... by so many */
} command;

/**
 * trace_probe_log_init() - a command is going to be parsed
 * @subsystem:	who says so in the log; it stays the caller's
 * @argc:	how many words the command has
 * @argv:	the words; they stay the caller's, until trace_probe_log_clear()
 *
 * Context: process context, under dyn_event_ops_mutex, as all of the below.
 */
void trace_probe_log_init(const char *subsystem, int argc, const char **argv)
{
	memset(&command, 0, sizeof(command));
	command.subsystem = subsystem;
	command.argc = argc;
	command.argv = argv;
}

/**
 * trace_probe_log_set_index() - the word that the next errors are about
 * @index:	its index in the words; their number stands for the end of the line
 */
void trace_probe_log_set_index(int index)
{
	command.index = index;
}

/**
 * trace_probe_log_set_expansion() - a word was replaced by several, or by none
 * @index:	its index in the words
 * @nr:		how many stand in its place
 *
 * From here on indices count the words as they are then; the command that the log
 * shows stays as it was given.
 */
void trace_probe_log_set_expansion(int index, int nr)
{
	command.expanded = index;
	command.replacements = nr;
}

/**
 * trace_probe_log_clear() - the command is done with
 */
void trace_probe_log_clear(void)
{
	memset(&command, 0, sizeof(command));
}

/* Where in the given words is @offset of the word that was set? */
static int given_word(int *offset)
{
	int index = command.index;

	if (command.expanded && index >= command.expanded) {
		if (index < command.expanded + command.replacements) {
			index = command.expanded;
			*offset = 0;
		} else {
			index -= command.replacements - 1;
		}
	}
	/*
	 * One word behind the last says that a word is missing there, one character
	 * behind a word that something is.  A word may have been replaced by a longer
	 * one.
	 */
	index = min(index, command.argc);
	*offset = index < command.argc ?
		  min_t(size_t, *offset, strlen(command.argv[index])) : 0;
	return index;
}

/* The column at which a word begins, given one blank between two words. */
static size_t word_column(int index)
{
	size_t column = 0;
	int i;

	for (i = 0; i < index; i++)
		column += strlen(command.argv[i]) + 1;
	return column;
}

/* The command as one line, to be freed; NULL without memory. */
static char *command_line(void)
{
	size_t size = word_column(command.argc), used = 0;
	char *line = kmalloc(size, GFP_KERNEL);
	int i;

	for (i = 0; line && i < command.argc; i++)
		used += scnprintf(line + used, size - used, "%s%s", i ? " " : "",
				  command.argv[i]);
	return line;
}

/**
 * __trace_probe_log_err() - tell in error_log what is wrong, and where
 * @offset:	in the word that was set
 * @err:	TP_ERR_*; trace_probe_log_err() saves the prefix
 *
 * Outside of a command it does nothing; without memory nothing is told.
 */
void __trace_probe_log_err(int offset, int err)
{
	size_t column;
	char *line;
	int word;

	if (!command.subsystem || !command.argc)
		return;

	line = command_line();
	if (!line)
		return;
	word = given_word(&offset);
	column = word_column(word) + offset;
	tracing_log_err(NULL, command.subsystem, line, error_texts, err, column);
	kfree(line);
}
