/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz: definitions of probe events, right ones and wrong ones.
 *
 * The idea: each line follows from the seed and its own number alone, so that
 * a failure is replayed by naming both.  gen.c writes a definition by the
 * documented grammar, mutate.c spoils it, check.c feeds it to the kernel and
 * looks at what came of it, main.c counts.
 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Longer than any line that the kernel takes (4094 bytes). */
#define MAX_LINE	8192

/* Random numbers: the state is all there is. */
struct rng {
	uint64_t state;
};

struct rng rng_of(uint64_t seed, uint64_t line);
uint64_t rng_next(struct rng *r);
/* From 0 to @n - 1. */
unsigned int below(struct rng *r, unsigned int n);
/* True @percent times of a hundred. */
bool chance(struct rng *r, unsigned int percent);

#define one_of(r, array)	((array)[below(r, ARRAY_SIZE(array))])

/* A line; never with a newline or a NUL inside. */
struct text {
	size_t len;
	char s[MAX_LINE + 1];
};

__attribute__((format(printf, 2, 3)))
void put(struct text *t, const char *fmt, ...);

/* Which file it is for: the second also takes the other kinds of events. */
enum tracefs_file { KPROBE_EVENTS, DYNAMIC_EVENTS, NR_TARGETS };

/* What must become of a definition. */
enum fate {
	MAY_FAIL,	/* whichever */
	MUST_PASS,	/* it is as documented, and its name is new */
};

struct options {
	uint64_t seed;
	uint64_t first, lines;
	unsigned int seconds;	/* at most, or 0 */
	bool old;		/* no globs, no $latency */
	bool lenient;		/* the base's parser: not every error is logged */
	bool no_btf;		/* the kernel has no types */
	bool show;		/* print the lines, do nothing */
};

extern struct options opt;

/* Lines are checked, and events taken away, by the batch. */
#define BATCH		100

/* Events are in this group, if nothing happens to the name. */
#define GROUP		"fz"

/* gen.c: line @nr; @vfs_read: where that is. */
enum fate generate(struct rng *r, struct text *t, uint64_t nr,
		   enum tracefs_file target);
extern unsigned long vfs_read_addr;

/* mutate.c */
void mutate(struct rng *r, struct text *t);

/* main.c: line @nr for @target, the same each time. */
enum fate make_line(uint64_t nr, enum tracefs_file target, struct text *t);
enum tracefs_file target_of(uint64_t batch);

/* main.c: a finding, about the line or (NULL) the batch. */
__attribute__((format(printf, 3, 4)))
void finding(uint64_t nr, const struct text *t, const char *fmt, ...);
/* Nothing can go on. */
__attribute__((format(printf, 1, 2), noreturn))
void die(const char *fmt, ...);
/* Count one more of what is called that; how many there are. */
unsigned long count(const char *what);

/* check.c */
void check_open(void);
void check_batch(uint64_t batch, uint64_t first, uint64_t last);
void check_close(void);

#endif /* _FUZZ_H */
