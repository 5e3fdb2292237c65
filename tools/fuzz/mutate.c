// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: what can happen to a line.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

/* Words that mean something, in places where they should not be. */
static const char * const words[] = {
	" ", "  ", "\t", ":", "/", "=", "+", "-", "@", "$", "%", "\\", "\"",
	"'", "(", ")", "[", "]", "->", ".", ",", ";", "*", "?", "#", "!", "^",
	"&", "~", "$arg*", "$arg", "$arg0", "$arg99", "$retval", "$stack",
	"$stack99999", "$comm", "$latency", "$immediate", "%return", "%ax",
	"%di", "%", "+0(", "+u0(", "-u", "@+", "@0x", "\\\"", "->next", "->",
	":string", ":ustring", ":symstr", ":symbol", ":char", ":u8", ":%pd",
	":b1@0/8", ":b64@1/64", ":b0@0/0", "[1]", "[64]", "[0]", "[-1]",
	"[]", "string[", "arg1=", "common_pid=", "__probe_ip=", "p", "r",
	"r16", "r99999", "p:", "-:", "p:" GROUP "/", "vfs_read", "vfs_*", "+0",
	"+4", "nomod:", "0x", "0", "-1", "4294967296", "18446744073709551615",
	"18446744073709551616", "9223372036854775808", "0xffffffffffffffff",
	"\x7f", "\x01", "\x1b[0m", "\r", "\v", "\x80", "\xff", "\xc3\xa4",
	"\xe2\x82\xac", "\xf0\x9f\x98\x80",
};

/* Replace @cut bytes at @at by @n others. */
static void splice(struct text *t, size_t at, size_t cut, const char *with,
		   size_t n)
{
	char copy[MAX_LINE];

	if (n > MAX_LINE - (t->len - cut))
		n = MAX_LINE - (t->len - cut);
	memcpy(copy, with, n);
	memmove(t->s + at + n, t->s + at + cut, t->len - at - cut);
	memcpy(t->s + at, copy, n);
	t->len += n - cut;
}

struct range {
	size_t at, len;
};

static struct range any_range(struct rng *r, const struct text *t)
{
	struct range x = { .at = below(r, t->len + 1) };

	x.len = below(r, chance(r, 80) ? 8 : 64);
	if (x.len > t->len - x.at)
		x.len = t->len - x.at;
	return x;
}

static void change_byte(struct rng *r, struct text *t)
{
	if (!t->len)
		return;
	if (chance(r, 50))
		t->s[below(r, t->len)] ^= 1 << below(r, 8);
	else
		t->s[below(r, t->len)] = below(r, 256);
}

static void insert_bytes(struct rng *r, struct text *t)
{
	char bytes[4];
	size_t i, n = 1 + below(r, sizeof(bytes));

	for (i = 0; i < n; i++)
		bytes[i] = below(r, 256);
	splice(t, below(r, t->len + 1), 0, bytes, n);
}

static void insert_word(struct rng *r, struct text *t)
{
	const char *word = one_of(r, words);

	splice(t, below(r, t->len + 1), 0, word, strlen(word));
}

static void replace_by_word(struct rng *r, struct text *t)
{
	const char *word = one_of(r, words);
	struct range x = any_range(r, t);

	splice(t, x.at, x.len, word, strlen(word));
}

static void delete_range(struct rng *r, struct text *t)
{
	struct range x = any_range(r, t);

	splice(t, x.at, x.len, "", 0);
}

static void duplicate_range(struct rng *r, struct text *t)
{
	struct range x = any_range(r, t);

	splice(t, below(r, t->len + 1), 0, t->s + x.at, x.len);
}

static void truncate_line(struct rng *r, struct text *t)
{
	t->len = below(r, t->len + 1);
}

/* Two neighbouring ranges change places. */
static void swap_ranges(struct rng *r, struct text *t)
{
	struct range x = any_range(r, t);
	char piece[64];

	memcpy(piece, t->s + x.at, x.len);
	splice(t, x.at, x.len, "", 0);
	splice(t, below(r, t->len + 1), 0, piece, x.len);
}

/* One thing many times: a name, a number, parentheses, an argument. */
static void repeat(struct rng *r, struct text *t)
{
	unsigned int i, n = below(r, chance(r, 95) ? 100 : 1200);
	struct range x = any_range(r, t);
	char piece[64];

	memcpy(piece, t->s + x.at, x.len);
	for (i = 0; i < n && t->len < MAX_LINE - sizeof(piece); i++)
		splice(t, x.at, 0, piece, x.len);
}

/* A number, or a digit of it, becomes another. */
static void change_number(struct rng *r, struct text *t)
{
	size_t at = below(r, t->len + 1), end;
	char number[32];
	int n;

	at += strcspn(t->s + at, "0123456789");
	if (at >= t->len)
		return;
	end = at + strspn(t->s + at, "0123456789");
	n = snprintf(number, sizeof(number), "%lu",
		     (unsigned long)(rng_next(r) >> below(r, 64)));
	splice(t, at, end - at, number, n);
}

void mutate(struct rng *r, struct text *t)
{
	static void (* const ways[])(struct rng *r, struct text *t) = {
		change_byte, insert_bytes, insert_word, insert_word,
		replace_by_word, replace_by_word, delete_range,
		duplicate_range, truncate_line, swap_ranges, repeat,
		change_number,
	};
	unsigned int n = 1 + below(r, 3);
	size_t i;

	while (n--) {
		one_of(r, ways)(r, t);
		t->s[t->len] = '\0';
	}
	for (i = 0; i < t->len; i++)
		if (t->s[i] == '\n' || !t->s[i])
			t->s[i] = ' ';
}
