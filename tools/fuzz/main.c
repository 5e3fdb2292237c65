// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: the lines in turn, what is found, and the figures at the end.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

struct options opt = { .seed = 1, .lines = 10000 };

/* Of those alike, so many findings are told in full; all are counted. */
#define MAX_TOLD	3
/* When there is no point in going on. */
#define MAX_FINDINGS	5000
static unsigned long nr_findings;

struct rng rng_of(uint64_t seed, uint64_t line)
{
	struct rng r = { .state = seed * 0x9e3779b97f4a7c15 };

	r.state = rng_next(&r) ^ line * 0xd1342543de82ef95;
	return r;
}

/* splitmix64 */
uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned int below(struct rng *r, unsigned int n)
{
	return rng_next(r) % n;
}

bool chance(struct rng *r, unsigned int percent)
{
	return below(r, 100) < percent;
}

void put(struct text *t, const char *fmt, ...)
{
	size_t room = sizeof(t->s) - t->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->s + t->len, room, fmt, args);
	va_end(args);
	t->len += n < (int)room ? n : (int)room - 1;
}

enum tracefs_file target_of(uint64_t batch)
{
	struct rng r = rng_of(opt.seed, ~batch);

	return chance(&r, 75) ? KPROBE_EVENTS : DYNAMIC_EVENTS;
}

/*
 * Is the place a pattern?  It has all symbols walked through, which takes as long
 * as fifty other lines, twice if it is taken: there are to be few.
 */
static bool has_pattern(const struct text *t)
{
	const char *place = t->s + strcspn(t->s, " ");

	place += strspn(place, " ");
	return strcspn(place, "*?[") < strcspn(place, " ");
}

enum fate make_line(uint64_t nr, enum tracefs_file target, struct text *t)
{
	struct rng r = rng_of(opt.seed, nr);
	enum fate fate;

	do {
		t->len = 0;
		t->s[0] = '\0';
		fate = generate(&r, t, nr, target);
		if (chance(&r, 10))
			return fate;
		mutate(&r, t);
	} while (has_pattern(t) && !chance(&r, 15));
	return MAY_FAIL;
}

/* As a string that printf(1) and C take alike. */
static void print_quoted(FILE *f, const struct text *t)
{
	size_t i;

	fputc('\'', f);
	for (i = 0; i < t->len; i++) {
		unsigned char c = t->s[i];

		if (isprint(c) && c != '\'' && c != '\\' && c != '%')
			fputc(c, f);
		else
			fprintf(f, "\\%03o", c);
	}
	fputs("'\n", f);
}

void die(const char *fmt, ...)
{
	int err = errno;
	va_list args;

	printf("fuzz: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", strerror(err));
	exit(2);
}

/* How often each thing was seen, by name. */
#define MAX_COUNTS	256
static struct {
	char *what;
	unsigned long times;
} counts[MAX_COUNTS];
static unsigned int nr_counts;

unsigned long count(const char *what)
{
	unsigned int i;

	for (i = 0; i < nr_counts; i++)
		if (!strcmp(counts[i].what, what))
			break;
	if (i == MAX_COUNTS)
		return ++counts[MAX_COUNTS - 1].times;
	if (i == nr_counts) {
		counts[i].what = strdup(what);
		if (!counts[i].what)
			die("no memory");
		nr_counts++;
	}
	return ++counts[i].times;
}

void finding(uint64_t nr, const struct text *t, const char *fmt, ...)
{
	char what[1024] = "FOUND: ", kind[256];
	size_t n = strlen(what);
	va_list args;

	va_start(args, fmt);
	vsnprintf(what + n, sizeof(what) - n, fmt, args);
	va_end(args);
	nr_findings++;
	/* Of one kind are those that begin with the same words. */
	n = strcspn(what, "\n");
	if (n >= sizeof(kind))
		n = sizeof(kind) - 1;
	memcpy(kind, what, n);
	kind[n] = '\0';
	if (count(kind) > MAX_TOLD)
		return;
	printf("%s\n  line %lu, on %s; again with --seed %lu --first %lu --lines %u\n",
	       what, (unsigned long)nr,
	       target_of(nr / BATCH) == KPROBE_EVENTS ?
	       "kprobe_events" : "dynamic_events", (unsigned long)opt.seed,
	       (unsigned long)(nr / BATCH * BATCH), BATCH);
	if (t) {
		printf("  printf ");
		print_quoted(stdout, t);
	}
	fflush(stdout);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

static void print_counts(void)
{
	unsigned int i;

	qsort(counts, nr_counts, sizeof(counts[0]), by_name);
	for (i = 0; i < nr_counts; i++)
		printf("%8lu  %s\n", counts[i].times, counts[i].what);
}

static void find_vfs_read(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long addr;
	char name[256];

	if (!f)
		die("/proc/kallsyms");
	while (fscanf(f, "%lx %*c %255s%*[^\n]", &addr, name) == 2)
		if (!strcmp(name, "vfs_read"))
			vfs_read_addr = addr;
	fclose(f);
}

static void show_lines(void)
{
	struct text t;
	uint64_t nr;

	for (nr = opt.first; nr < opt.first + opt.lines; nr++) {
		enum fate fate = make_line(nr, target_of(nr / BATCH), &t);

		printf("%lu %s ", (unsigned long)nr,
		       fate == MUST_PASS ? "right" : "any");
		print_quoted(stdout, &t);
	}
}

static void help_and_exit(void)
{
	fprintf(stderr,
		"usage: fuzz [--seed N] [--first N] [--lines N] [--seconds N]\n"
		"            [--old] [--lenient] [--show]\n"
		"  --old      neither globs nor $latency\n"
		"  --lenient  not every rejection is logged with its place\n"
		"  --show     only print the lines\n");
	exit(2);
}

static void options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed",	required_argument, NULL, 's' },
		{ "first",	required_argument, NULL, 'f' },
		{ "lines",	required_argument, NULL, 'n' },
		{ "seconds",	required_argument, NULL, 't' },
		{ "old",	no_argument,	   NULL, 'o' },
		{ "lenient",	no_argument,	   NULL, 'l' },
		{ "show",	no_argument,	   NULL, 'w' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 's':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			opt.first = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			opt.lines = strtoull(optarg, NULL, 0);
			break;
		case 't':
			opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			opt.old = true;
			break;
		case 'l':
			opt.lenient = true;
			break;
		case 'w':
			opt.show = true;
			break;
		default:
			help_and_exit();
		}
	}
	if (optind < argc)
		help_and_exit();
	/* Names of one batch are seen by its later lines. */
	opt.first -= opt.first % BATCH;
}

/* tools/fuzz/run adds up what the guests say last. */
static void tell_progress(uint64_t nr)
{
	printf("fuzz: seed %lu, %lu lines, %lu findings\n",
	       (unsigned long)opt.seed, (unsigned long)(nr - opt.first),
	       nr_findings);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t nr, last, told;
	time_t start;

	options(argc, argv);
	opt.no_btf = access("/sys/kernel/btf/vmlinux", F_OK);
	find_vfs_read();
	if (opt.show) {
		show_lines();
		return 0;
	}
	start = time(NULL);
	told = opt.first;
	last = opt.first + opt.lines;
	check_open();
	for (nr = opt.first; nr < last && nr_findings < MAX_FINDINGS;
	     nr += BATCH) {
		if (opt.seconds && time(NULL) - start >= opt.seconds)
			break;
		check_batch(nr / BATCH, nr, last < nr + BATCH ? last :
			    nr + BATCH);
		if (nr - told >= 2000) {
			tell_progress(nr);
			told = nr;
		}
	}
	check_close();
	print_counts();
	tell_progress(nr < last ? nr : last);
	return nr_findings ? 1 : 0;
}
