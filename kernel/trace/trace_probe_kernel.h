/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe events: how probes in the kernel read memory.
 *
 * The one idea: nothing here is known to be mapped, so all of it is read with
 * the fault caught.  trace_uprobe.c has functions of the same names, that read
 * the memory of the process it has stopped.
 *
 * A string is stored where the __data_loc at @dest says, in as many bytes as it
 * says; then it says how many they are, with the NUL.  @base is the entry.
 */

#ifndef _TRACE_PROBE_KERNEL_H
#define _TRACE_PROBE_KERNEL_H

#include <linux/minmax.h>
#include <linux/uaccess.h>

#include <asm/word-at-a-time.h>

#include "trace_probe.h"

/*
 * Where an address says whose memory it is, "string" and plain memory arguments
 * are content with user memory, too.
 */
static nokprobe_inline bool probe_mem_is_user(unsigned long addr)
{
	return IS_ENABLED(CONFIG_ARCH_HAS_NON_OVERLAPPING_ADDRESS_SPACE) &&
	       addr < TASK_SIZE;
}

static nokprobe_inline int
probe_mem_read_user(void *dest, void *src, size_t size)
{
	return copy_from_user_nofault(dest, (const void __user *)src, size);
}

static nokprobe_inline int
probe_mem_read(void *dest, void *src, size_t size)
{
	if (probe_mem_is_user((unsigned long)src))
		return probe_mem_read_user(dest, src, size);
	return copy_from_kernel_nofault(dest, src, size);
}

/* The length of the string at @addr with its NUL, at most MAX_STRING_SIZE. */
static nokprobe_inline int
fetch_store_strlen_user(unsigned long addr)
{
	long len = strnlen_user_nofault((const void __user *)addr, MAX_STRING_SIZE);

	/* 0: it cannot be read.  More than that: it is longer. */
	return len <= 0 ? -EFAULT : min_t(long, len, MAX_STRING_SIZE);
}

/* A word at a time, the first byte lowest; an aligned word is mapped if a byte of it is. */
static nokprobe_inline int
fetch_store_strlen(unsigned long addr)
{
	const struct word_at_a_time ones = WORD_AT_A_TIME_CONSTANTS;
	long pos = -(addr % sizeof(long));	/* from @addr */
	unsigned long word, zeroes;

	if (probe_mem_is_user(addr))
		return fetch_store_strlen_user(addr);

	for (; pos < MAX_STRING_SIZE; pos += sizeof(word)) {
		if (copy_from_kernel_nofault(&word, (void *)(addr + pos), sizeof(word)))
			return -EFAULT;
		/* What stands before the string does not end it. */
		if (pos < 0)
			word |= (1UL << -pos * BITS_PER_BYTE) - 1;
		if (has_zero(word, &zeroes, &ones)) {
			zeroes = prep_zero_mask(word, zeroes, &ones);
			pos += find_zero(create_zero_mask(zeroes)) + 1;
			break;
		}
	}
	return min_t(long, pos, MAX_STRING_SIZE);
}

/* Either the string of @len bytes has been stored, or @len is why it has not. */
static nokprobe_inline int
set_string_loc(void *dest, long len)
{
	u32 loc = *(u32 *)dest;

	*(u32 *)dest = make_data_loc(max(len, 0L), get_loc_offs(loc));
	return len;
}

static nokprobe_inline int
fetch_store_string_user(unsigned long addr, void *dest, void *base)
{
	u32 *loc = dest;

	return set_string_loc(dest, strncpy_from_user_nofault(get_loc_data(loc, base),
							      (const void __user *)addr,
							      get_loc_len(*loc)));
}

static nokprobe_inline int
fetch_store_string(unsigned long addr, void *dest, void *base)
{
	u32 *loc = dest;

	if (probe_mem_is_user(addr))
		return fetch_store_string_user(addr, dest, base);
	return set_string_loc(dest, strncpy_from_kernel_nofault(get_loc_data(loc, base),
								(const void *)addr,
								get_loc_len(*loc)));
}

#endif /* _TRACE_PROBE_KERNEL_H */
