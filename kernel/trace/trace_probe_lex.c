// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the lexer of definitions.
 *
 * The one idea is told in trace_probe_lex.h.  Nothing here knows what a token
 * means, or reports: a function takes one, or says that there is none.
 */
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe_lex.h"

/* No number in any base that fits has more characters; nor has its sign. */
#define NUMBER_MAX	(2 + BITS_PER_LONG + 1)

/**
 * probe_span_of() - all of a word
 * @word:	the word, which outlives the span
 *
 * Return: the span.
 */
struct probe_span probe_span_of(const char *word)
{
	return (struct probe_span){ .text = word, .len = strlen(word) };
}

/**
 * probe_span_is() - compare a span
 * @span:	the span
 * @text:	with this
 *
 * Return: are they equal?
 */
bool probe_span_is(const struct probe_span *span, const char *text)
{
	return strlen(text) == span->len && probe_span_has_prefix(span, text);
}

/**
 * probe_span_has_prefix() - compare the beginning of a span
 * @span:	the span
 * @text:	with this
 *
 * Return: does it begin so?
 */
bool probe_span_has_prefix(const struct probe_span *span, const char *text)
{
	size_t len = strlen(text);

	return len <= span->len && !memcmp(span->text, text, len);
}

/**
 * probe_span_is_name() - may it name something?
 * @span:	the span
 *
 * Return: whether it is a C identifier.
 */
bool probe_span_is_name(const struct probe_span *span)
{
	unsigned int i;

	if (!span->len || isdigit(span->text[0]))
		return false;
	for (i = 0; i < span->len; i++)
		if (!isascii(span->text[i]) || (!isalnum(span->text[i]) && span->text[i] != '_'))
			return false;
	return true;
}

/**
 * probe_span_is_digits() - is it a plain decimal number?
 * @span:	the span
 *
 * Return: whether it is digits and nothing else, not even a sign; "" is none.
 */
bool probe_span_is_digits(const struct probe_span *span)
{
	unsigned int i;

	for (i = 0; i < span->len; i++)
		if (!isdigit(span->text[i]))
			return false;
	return span->len;
}

/**
 * probe_lex_skip() - drop the front of a span
 * @span:	the span
 * @len:	that many characters, which are there
 */
void probe_lex_skip(struct probe_span *span, unsigned int len)
{
	span->text += len;
	span->offset += len;
	span->len -= len;
}

/**
 * probe_lex_take() - take a character from the front
 * @span:	the span, shorter then
 * @c:		the character
 *
 * Return: was it there?
 */
bool probe_lex_take(struct probe_span *span, char c)
{
	if (!span->len || span->text[0] != c)
		return false;
	probe_lex_skip(span, 1);
	return true;
}

/**
 * probe_lex_close() - take a character from the back
 * @span:	the span, shorter then
 * @c:		the character
 *
 * Return: was it there?
 */
bool probe_lex_close(struct probe_span *span, char c)
{
	if (!span->len || span->text[span->len - 1] != c)
		return false;
	span->len--;
	return true;
}

/* The first @len characters; @span is what is behind them. */
static struct probe_span take_front(struct probe_span *span, unsigned int len)
{
	struct probe_span front = *span;

	front.len = len;
	probe_lex_skip(span, len);
	return front;
}

/**
 * probe_lex_until() - take a token that ends where another begins
 * @span:	the span; what is left begins with one of @stops, or is empty
 * @stops:	what does not belong to the token
 *
 * Return: the token; it may be empty.
 */
struct probe_span probe_lex_until(struct probe_span *span, const char *stops)
{
	unsigned int len;

	for (len = 0; len < span->len; len++)
		if (strchr(stops, span->text[len]))
			break;
	return take_front(span, len);
}

/**
 * probe_lex_through_last() - take all that ends in a character
 * @span:	the span; what is left has none of them
 * @c:		the character
 *
 * Return: the token; it is empty when there is no such character.
 */
struct probe_span probe_lex_through_last(struct probe_span *span, char c)
{
	unsigned int len = span->len;

	while (len && span->text[len - 1] != c)
		len--;
	return take_front(span, len);
}

/* A number is read from a string: make it one, with or without a '-'. */
static int number_text(const struct probe_span *span, bool negative, char *buf)
{
	if (span->len > NUMBER_MAX)
		return -ERANGE;
	if (negative)
		*buf++ = '-';
	memcpy(buf, span->text, span->len);
	buf[span->len] = '\0';
	return 0;
}

/**
 * probe_span_to_ulong() - read a number
 * @span:	its digits
 * @base:	10, or 0: as C does
 * @value:	what it is
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int probe_span_to_ulong(const struct probe_span *span, unsigned int base,
			unsigned long *value)
{
	char buf[NUMBER_MAX + 1];
	int err = number_text(span, false, buf);

	return err ?: kstrtoul(buf, base, value);
}

/**
 * probe_span_to_long() - read a number that may have a sign
 * @span:	sign and digits
 * @value:	what it is
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int probe_span_to_long(const struct probe_span *span, long *value)
{
	char buf[NUMBER_MAX + 1];
	int err = number_text(span, false, buf);

	return err ?: kstrtol(buf, 0, value);
}

/**
 * probe_span_to_uint() - read a small number
 * @span:	its digits
 * @value:	what it is
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int probe_span_to_uint(const struct probe_span *span, unsigned int *value)
{
	char buf[NUMBER_MAX + 1];
	int err = number_text(span, false, buf);

	return err ?: kstrtouint(buf, 0, value);
}

/**
 * probe_span_to_offset() - read an offset, the sign of which was taken already
 * @span:	its digits; behind a '+' there may be another sign
 * @negative:	the sign was a '-'
 * @value:	what it is
 *
 * Return: 0, -EINVAL, or -ERANGE: it is no int.
 */
int probe_span_to_offset(const struct probe_span *span, bool negative, int *value)
{
	char buf[NUMBER_MAX + 2];
	int err = number_text(span, negative, buf);

	return err ?: kstrtoint(buf, 0, value);
}

/**
 * probe_span_dup() - make it a string
 * @span:	the span
 *
 * Return: the string, to be freed; or NULL without memory.
 */
char *probe_span_dup(const struct probe_span *span)
{
	return kmemdup_nul(span->text, span->len, GFP_KERNEL);
}
