// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobes by hand: a script says what to register, through the functions that
 * kernel code uses, and reads what they returned and what the handlers saw.
 *
 * Commands, one a line, to parameters/do:
 *	new NAME SYMBOL[+OFFSET] [ret] [post] [observe] [disabled]
 *	addr NAME HEX-ADDRESS
 *	free NAME
 *	register|unregister|enable|disable NAME...	(one set)
 * A command that makes no sense fails the write.  Else the write succeeds, and
 * parameters/result is what the function of <linux/kprobes.h> returned.
 * parameters/hits has a line per probe: name, hits, hits from elsewhere.  What
 * observes counts behind the instruction, and only ours can have it.
 */
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MAX_SET 16

struct probe {
	struct list_head list;
	struct kretprobe rp;		/* of which an entry probe uses .kp */
	bool is_ret;
	bool is_disabled;		/* is to be registered disabled */
	bool observes;			/* its post_handler does not redirect */
	bool is_registered;
	atomic_t hits;
	atomic_t foreign;		/* at an address that is not ours */
	char name[32];
	char symbol[64];
};

static LIST_HEAD(probes);		/* the sysfs lock of parameters guards it */

static int result;
module_param(result, int, 0444);

static int entry_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe *p = container_of(kp, struct probe, rp.kp);

	atomic_inc(&p->hits);
	if (instruction_pointer(regs) != (unsigned long)kp->addr + 1)
		atomic_inc(&p->foreign);
	return 0;
}

NOKPROBE_SYMBOL(entry_hit);

static void after_hit(struct kprobe *kp, struct pt_regs *regs,
		      unsigned long flags)
{
}

NOKPROBE_SYMBOL(after_hit);

static void observed_hit(struct kprobe *kp, struct pt_regs *regs,
			 unsigned long flags)
{
	atomic_inc(&container_of(kp, struct probe, rp.kp)->hits);
}

NOKPROBE_SYMBOL(observed_hit);

static int return_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		atomic_inc(&container_of(rp, struct probe, rp)->hits);
	return 0;
}

NOKPROBE_SYMBOL(return_hit);

static struct probe *find(const char *name)
{
	struct probe *p;

	list_for_each_entry(p, &probes, list)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static int set_flag(struct probe *p, const char *flag)
{
	if (!strcmp(flag, "ret"))
		p->is_ret = true;
	else if (!strcmp(flag, "post"))
		p->rp.kp.post_handler = after_hit;
	else if (!strcmp(flag, "disabled"))
		p->is_disabled = true;
#ifdef KPROBE_FLAG_OBSERVER
	else if (!strcmp(flag, "observe"))
		p->observes = true;
#endif
	else
		return -EINVAL;
	return 0;
}

static int set_symbol(struct probe *p, char *where)
{
	char *offset = strchr(where, '+');

	if (offset) {
		*offset++ = '\0';
		if (kstrtouint(offset, 0, &p->rp.kp.offset))
			return -EINVAL;
	}
	strscpy(p->symbol, where);
	p->rp.kp.symbol_name = p->symbol;
	return 0;
}

static int set_address(struct probe *p, const char *hex)
{
	unsigned long addr;
	int err = kstrtoul(hex, 16, &addr);

	p->rp.kp.addr = (void *)addr;
	return err;
}

/* "new" and "addr": make a probe, register nothing. */
static int make(char *rest, bool by_address)
{
	char *name = strsep(&rest, " "), *where = strsep(&rest, " "), *flag;
	struct probe *p;
	int err;

	if (!where || find(name))
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	strscpy(p->name, name);
	err = by_address ? set_address(p, where) : set_symbol(p, where);
	while (!err && (flag = strsep(&rest, " ")))
		err = set_flag(p, flag);
	if (err) {
		kfree(p);
		return err;
	}
	if (p->is_ret)
		p->rp.handler = return_hit;
	else if (p->observes)
		p->rp.kp.post_handler = observed_hit;
	else
		p->rp.kp.pre_handler = entry_hit;
	list_add_tail(&p->list, &probes);
	return 0;
}

static int drop(const char *name)
{
	struct probe *p = find(name);

	if (!p)
		return -ENOENT;
	list_del(&p->list);
	kfree(p);
	return 0;
}

#ifndef HAVE_SET_CHANGES
static int enable_kprobes(struct kprobe **kps, int num)
{
	int i, err = 0;

	for (i = 0; i < num && !err; i++)
		err = enable_kprobe(kps[i]);
	return err;
}

static int disable_kprobes(struct kprobe **kps, int num)
{
	int i, err = 0;

	for (i = 0; i < num && !err; i++)
		err = disable_kprobe(kps[i]);
	return err;
}
#endif

/* As the caller of register_kprobe() must: also when registered before. */
static void prepare(struct probe *p)
{
	if (p->rp.kp.symbol_name)
		p->rp.kp.addr = NULL;
	p->rp.kp.flags = p->is_disabled ? KPROBE_FLAG_DISABLED : 0;
#ifdef KPROBE_FLAG_OBSERVER
	if (p->observes)
		p->rp.kp.flags |= KPROBE_FLAG_OBSERVER;
#endif
}

static int change_returns(const char *verb, struct kretprobe **rps, int num)
{
	if (!strcmp(verb, "register"))
		return register_kretprobes(rps, num);
	unregister_kretprobes(rps, num);
	return 0;
}

static int change_entries(const char *verb, struct kprobe **kps, int num)
{
	if (!strcmp(verb, "register"))
		return register_kprobes(kps, num);
	unregister_kprobes(kps, num);
	return 0;
}

/* One call for the whole set; it is of return probes or of entry probes. */
static int change(const char *verb, char *names)
{
	struct kretprobe *rps[MAX_SET];
	struct kprobe *kps[MAX_SET];
	struct probe *set[MAX_SET], *p;
	bool will_register = !strcmp(verb, "register"), is_ret = false;
	char *name;
	int num = 0, i;

	while ((name = strsep(&names, " "))) {
		p = find(name);
		if (!p || num == MAX_SET || (num && p->is_ret != is_ret) ||
		    p->is_registered == will_register)
			return -EINVAL;
		is_ret = p->is_ret;
		if (will_register)
			prepare(p);
		set[num] = p;
		rps[num] = &p->rp;
		kps[num++] = &p->rp.kp;
	}
	if (!num)
		return -EINVAL;
	/* A return probe is enabled by the entry probe that is its first member. */
	if (!strcmp(verb, "enable"))
		result = enable_kprobes(kps, num);
	else if (!strcmp(verb, "disable"))
		result = disable_kprobes(kps, num);
	else
		result = is_ret ? change_returns(verb, rps, num) :
				  change_entries(verb, kps, num);
	for (i = 0; i < num && *verb != 'e' && *verb != 'd'; i++)
		set[i]->is_registered = will_register && !result;
	return 0;
}

static bool is_change(const char *verb)
{
	static const char * const verbs[] = {
		"register", "unregister", "enable", "disable",
	};

	return match_string(verbs, ARRAY_SIZE(verbs), verb) >= 0;
}

static int do_set(const char *arg, const struct kernel_param *param)
{
	char *line = kstrdup(arg, GFP_KERNEL), *rest, *verb;
	int err;

	if (!line)
		return -ENOMEM;
	rest = strim(line);
	verb = strsep(&rest, " ");
	if (!rest)
		err = -EINVAL;
	else if (!strcmp(verb, "new") || !strcmp(verb, "addr"))
		err = make(rest, *verb == 'a');
	else if (!strcmp(verb, "free"))
		err = drop(rest);
	else if (is_change(verb))
		err = change(verb, rest);
	else
		err = -EINVAL;
	kfree(line);
	return err;
}

static const struct kernel_param_ops do_ops = { .set = do_set };
module_param_cb(do, &do_ops, NULL, 0200);

static int hits_get(char *buffer, const struct kernel_param *param)
{
	struct probe *p;
	int len = 0;

	list_for_each_entry(p, &probes, list)
		len += scnprintf(buffer + len, PAGE_SIZE - len, "%s %d %d\n",
				 p->name, atomic_read(&p->hits),
				 atomic_read(&p->foreign));
	return len;
}

static const struct kernel_param_ops hits_ops = { .get = hits_get };
module_param_cb(hits, &hits_ops, NULL, 0444);

static int __init kprobes_control_init(void)
{
	return 0;
}

/* A script that failed in the middle leaves probes behind. */
static void __exit kprobes_control_exit(void)
{
	struct probe *p, *next;

	list_for_each_entry_safe(p, next, &probes, list) {
		if (p->is_registered && p->is_ret)
			unregister_kretprobe(&p->rp);
		else if (p->is_registered)
			unregister_kprobe(&p->rp.kp);
		kfree(p);
	}
}

module_init(kprobes_control_init);
module_exit(kprobes_control_exit);
MODULE_DESCRIPTION("kprobes by hand");
MODULE_LICENSE("GPL");
