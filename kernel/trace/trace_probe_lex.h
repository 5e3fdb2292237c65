/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe events: the lexer of definitions.
 *
 * The one idea: a text is a span of its word, and a token is a shorter span that
 * was taken from its front or its back.  Each knows its offset in the word, so
 * whatever is wrong with it can be pointed at.
 */

#ifndef _TRACE_PROBE_LEX_H
#define _TRACE_PROBE_LEX_H

#include <linux/types.h>

/**
 * struct probe_span - a piece of a word of a definition
 * @text:	its first character; it is not terminated
 * @len:	characters
 * @offset:	of the first in the word
 */
struct probe_span {
	const char	*text;
	unsigned int	len;
	int		offset;
};

static inline int probe_span_end(const struct probe_span *span)
{
	return span->offset + (int)span->len;
}

/* The first character; NUL when there is none. */
static inline char probe_span_first(const struct probe_span *span)
{
	return span->len ? span->text[0] : '\0';
}

struct probe_span probe_span_of(const char *word);
bool probe_span_is(const struct probe_span *span, const char *text);
bool probe_span_has_prefix(const struct probe_span *span, const char *text);
bool probe_span_is_name(const struct probe_span *span);
bool probe_span_is_digits(const struct probe_span *span);

void probe_lex_skip(struct probe_span *span, unsigned int len);
bool probe_lex_take(struct probe_span *span, char c);
bool probe_lex_close(struct probe_span *span, char c);
struct probe_span probe_lex_until(struct probe_span *span, const char *stops);
struct probe_span probe_lex_through_last(struct probe_span *span, char c);

int probe_span_to_ulong(const struct probe_span *span, unsigned int base,
			unsigned long *value);
int probe_span_to_long(const struct probe_span *span, long *value);
int probe_span_to_uint(const struct probe_span *span, unsigned int *value);
int probe_span_to_offset(const struct probe_span *span, bool negative, int *value);
char *probe_span_dup(const struct probe_span *span);

#endif /* _TRACE_PROBE_LEX_H */
