// SPDX-License-Identifier: GPL-2.0
/*
 * races: seeds, threads and interrupts; see race.h.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "race.h"

#define TRAP_FLAG	0x100UL

__thread uint64_t random_state;
uint64_t seed;
bool race_over;
void (*interrupt)(void);

/* Of splitmix64. */
static uint64_t random_next(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

unsigned int below(unsigned int n)
{
	return (random_next() >> 32) * n >> 32;
}

static __thread volatile unsigned long steps;
static __thread volatile int in_step;
static int step_in_step;

static void set_trap_flag(bool on)
{
	/* Past what the compiler may keep below the stack pointer. */
	if (on)
		asm volatile("sub $128, %%rsp; pushf; orq %0, (%%rsp); popf; add $128, %%rsp"
			     : : "i" (TRAP_FLAG) : "memory", "cc");
	else
		asm volatile("sub $128, %%rsp; pushf; andq %0, (%%rsp); popf; add $128, %%rsp"
			     : : "i" (~TRAP_FLAG) : "memory", "cc");
}

static void do_interrupt(void)
{
	static __thread uint64_t own_random;
	uint64_t random = random_state;
	int err = errno, was = interrupt_enter();

	if (was == NO_CPU)
		return;
	random_state = own_random;
	interrupt();
	own_random = random_state;
	random_state = random;
	interrupt_exit(was);
	errno = err;
}

static void on_signal(int sig)
{
	if (interrupt)
		do_interrupt();
}

static void on_step(int sig)
{
	steps++;
	if (++in_step == 1 && step_in_step && steps % step_in_step == 0) {
		set_trap_flag(true);
		do_interrupt();
		set_trap_flag(false);
	} else {
		do_interrupt();
	}
	in_step--;
}

unsigned long step_through(void (*fn)(void *arg), void *arg, int nested)
{
	steps = 0;
	step_in_step = nested;
	set_trap_flag(true);
	fn(arg);
	set_trap_flag(false);
	return steps;
}

struct thread {
	pthread_t thread;
	void (*fn)(int nr);
	int nr;
	bool busy;
};

static int busy_left;

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	random_state = seed * 1000 + t->nr;
	t->fn(t->nr);
	if (t->busy)
		__atomic_fetch_sub(&busy_left, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

void race_run(void (*fn)(int nr), int nr, int busy)
{
	struct thread threads[nr];
	int i;

	WRITE_ONCE(race_over, false);
	busy_left = busy;
	for (i = 0; i < nr; i++) {
		threads[i] = (struct thread) { .fn = fn, .nr = i, .busy = i < busy };
		must(!pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]));
	}
	/* One that has ended may be sent a signal until it is joined. */
	while (READ_ONCE(busy_left)) {
		pthread_kill(threads[below(busy)].thread, SIGUSR1);
		usleep(20);
	}
	WRITE_ONCE(race_over, true);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i].thread, NULL);
}

static void usage(const struct scenario *scenarios, int nr)
{
	fprintf(stderr, "PROGRAM SCENARIO OPERATIONS SEED\nscenarios:");
	while (nr--)
		fprintf(stderr, " %s", scenarios++->name);
	fputc('\n', stderr);
	exit(2);
}

int race_main(int argc, char **argv, const struct scenario *scenarios, int nr,
	      void (*init)(void))
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int i;

	if (argc != 4)
		usage(scenarios, nr);
	seed = strtoull(argv[3], NULL, 0);
	random_state = seed;

	sigaction(SIGUSR1, &act, NULL);
	act.sa_handler = on_step;
	act.sa_flags |= SA_NODEFER;
	sigaction(SIGTRAP, &act, NULL);

	cpus_init();
	init();
	works_init();
	for (i = 0; i < nr; i++)
		if (!strcmp(scenarios[i].name, argv[1]))
			break;
	if (i == nr)
		usage(scenarios, nr);
	scenarios[i].run(strtoul(argv[2], NULL, 0));
	return 0;
}
