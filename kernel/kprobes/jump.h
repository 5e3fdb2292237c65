/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jumps in place of breakpoints: what the breakpoint method asks of arm_jump.c,
 * and arm_jump.c of the architecture.
 *
 * arch_jump_is_single(): would a jump displace one instruction only, and is all
 *	in place for it?
 * arch_jump_check(): may a jump displace what is there?  Finds out the region;
 *	cpus_read_lock(), jump_label_lock() and text_mutex held.
 * arch_jump_region(): the bytes that a jump displaces, 0 when not known.
 * arch_jump_prepare(): make the detour; may sleep.  Returns 0, or -ENOMEM or
 *	-EINVAL when the instructions cannot run there.
 * arch_jump_route(): from now on the breakpoint sends tasks to the detour, past
 *	the whole region; or behind the first instruction again.
 * arch_jumps_set(), arch_jumps_clear(): poke a list of sites, linked by
 *	jump_node, from breakpoint to jump and back; text_mutex held.
 */
#ifndef _KERNEL_KPROBES_JUMP_H
#define _KERNEL_KPROBES_JUMP_H

#include <linux/list.h>

#include "internal.h"

/* More bytes than any jump displaces: four, and one instruction of fifteen. */
#define JUMP_REGION_MAX		20

#ifdef CONFIG_OPTPROBES

void jump_consider(struct probe_site *site, unsigned int lanes, struct list_head *now);
void jumps_begin(struct list_head *jumps);
void jump_cancel(struct probe_site *site, struct list_head *undo);
void jumps_undo(struct list_head *undo);
void jump_reconsider(struct probe_site *site);
void jump_make_way(unsigned long addr);
void jump_reconsider_before(unsigned long addr);
void jumps_allow(bool allow);

bool arch_jump_is_single(const struct displaced_site *ds);
bool arch_jump_check(struct displaced_site *ds);
unsigned int arch_jump_region(const struct displaced_site *ds);
int arch_jump_prepare(struct displaced_site *ds);
void arch_jump_route(struct displaced_site *ds, bool detour);
void arch_jumps_set(struct list_head *jumps);
void arch_jumps_clear(struct list_head *jumps);

#else

static inline void jump_consider(struct probe_site *site, unsigned int lanes,
				 struct list_head *now) { }
static inline void jumps_begin(struct list_head *jumps) { }
static inline void jump_cancel(struct probe_site *site, struct list_head *undo) { }
static inline void jumps_undo(struct list_head *undo) { }
static inline void jump_reconsider(struct probe_site *site) { }
static inline void jump_make_way(unsigned long addr) { }
static inline void jump_reconsider_before(unsigned long addr) { }
static inline void jumps_allow(bool allow) { }

#endif /* CONFIG_OPTPROBES */

#endif /* _KERNEL_KPROBES_JUMP_H */
