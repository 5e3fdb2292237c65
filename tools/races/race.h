/* SPDX-License-Identifier: GPL-2.0 */
/*
 * races: what its programs share: a seed, threads, interrupts.
 *
 * The idea: interrupts come in two ways.  Signals come whenever they like; and a
 * thread can have one after each of its instructions, so that nothing about where
 * they may come is left to luck.
 */
#ifndef _RACES_RACE_H
#define _RACES_RACE_H

#include "shim.h"

/* A thread's own random numbers. */
extern __thread uint64_t random_state;
extern uint64_t seed;

unsigned int below(unsigned int n);
#define chance(percent)		(below(100) < (percent))

struct scenario {
	const char *name;
	/* Fails by not returning; tells what it did. */
	void (*run)(unsigned long ops);
};

int race_main(int argc, char **argv, const struct scenario *scenarios, int nr,
	      void (*init)(void));

/**
 * race_run() - a thread for each function
 * @thread: called with its number, until it returns
 * @nr:     how many
 * @busy:   the first so many end the race; those behind see race_over
 *
 * The first @busy threads are interrupted again and again.
 */
void race_run(void (*thread)(int nr), int nr, int busy);
extern bool race_over;

/* With all operations done, a race goes on until so many have come. */
#define RACE_INTERRUPTS	20

/* What an interrupt does, on a CPU and with preemption off; NULL: nothing. */
extern void (*interrupt)(void);

/**
 * step_through() - have an interrupt after each instruction
 * @fn:  what is stepped through
 * @arg: for it
 * @nested: one in so many of these is itself stepped through, if not 0
 *
 * Return: how many steps there were.
 */
unsigned long step_through(void (*fn)(void *arg), void *arg, int nested);

#endif /* _RACES_RACE_H */
