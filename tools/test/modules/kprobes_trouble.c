// SPDX-License-Identifier: GPL-2.0
/*
 * Trouble to order, for the test of what tools/vm/run makes of it:
 *   insmod kprobes_trouble.ko what=warn|oops|panic
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/string.h>

static char *what = "";
module_param(what, charp, 0);

static int __init trouble_init(void)
{
	if (!strcmp(what, "oops"))
		WRITE_ONCE(*(int *)8, 1);
	if (!strcmp(what, "panic"))
		panic("the panic that was ordered");
	if (!strcmp(what, "warn"))
		WARN(1, "the warning that was ordered\n");
	return 0;
}

static void __exit trouble_exit(void)
{
}

module_init(trouble_init);
module_exit(trouble_exit);

MODULE_DESCRIPTION("Trouble to order");
MODULE_LICENSE("GPL");
