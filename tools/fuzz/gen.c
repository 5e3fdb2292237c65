// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: definitions by the grammar of Documentation/trace/kprobetrace.rst.
 *
 * What is written here is right, as far as that can be known without asking
 * the kernel; where it cannot, the line may fail.
 */
#include <string.h>

#include "fuzz.h"

unsigned long vfs_read_addr;

/* Functions of any kernel, with names that no other symbol has. */
struct function {
	const char *name;
	bool has_retval;
	int nr_args;
	const char *args[4];	/* as BTF names them */
	const char *fields[5];	/* of those; the last ones may be NULL */
	const char *retval;	/* of the return value, or NULL */
};

#define FILE_FIELDS(file)						\
	{ file "->f_flags", file "->f_path.dentry",			\
	  file "->f_path.dentry->d_name.name:string",			\
	  file "->f_inode->i_sb->s_id:string", file "->f_inode->i_ino:x32" }

static const struct function functions[] = {
	{ "vfs_read", true, 4, { "file", "buf", "count", "pos" },
	  .fields = FILE_FIELDS("file") },
	{ "vfs_write", true, 4, { "file", "buf", "count", "pos" },
	  .fields = FILE_FIELDS("file") },
	{ "vfs_open", true, 2, { "path", "file" },
	  .fields = { "path->dentry",
		      "path->mnt->mnt_sb->s_type->name:string" } },
	{ "vfs_fsync", true, 2, { "file", "datasync" },
	  .fields = FILE_FIELDS("file") },
	{ "filp_close", true, 2, { "filp", "id" },
	  .fields = FILE_FIELDS("filp") },
	{ "do_filp_open", true, 3, { "dfd", "pathname", "op" },
	  .fields = { "pathname->name", "pathname->name:string" },
	  .retval = "$retval->f_inode->i_size" },
	{ "do_sys_openat2", true, 3, { "dfd", "filename", "how" },
	  .fields = { "how->flags", "filename:ustring" } },
	{ "dput", false, 1, { "dentry" },
	  .fields = { "dentry->d_flags", "dentry->d_name.len",
		      "dentry->d_iname:string" } },
	{ "kfree", false, 1, { "object" }, .retval = NULL },
	{ "kill_pid", true, 3, { "pid", "sig", "priv" },
	  .fields = { "pid->level" } },
	{ "wake_up_new_task", false, 1, { "p" },
	  .fields = { "p->pid", "p->comm:string", "p->sched_reset_on_fork",
		      "p->se.vruntime", "p->real_parent->tgid:u16" } },
};

/* What is being defined, and so which arguments there can be. */
struct context {
	const struct function *fn;	/* NULL: one of which nothing is known */
	bool regs, stack, returns, btf, fields;
	bool latency;			/* not there yet, but can be */
	bool all_args;			/* "$arg*" was there */
	enum fate fate;
};

static const char * const regs[] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static const char * const data[] = {
	"jiffies", "init_task", "linux_banner", "linux_proc_banner",
};

static const char * const scalars[] = {
	"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
	"x8", "x16", "x32", "x64", "char", "symbol",
};

/* Its name not counted. */
#define LONGEST_ARG	63

static void put_number(struct rng *r, struct text *t, unsigned int most)
{
	unsigned int n = below(r, most + 1);

	if (chance(r, 30))
		put(t, "0x%x", n);
	else
		put(t, "%u", n);
}

/* What a value can be fetched from decides which types it can have. */
enum value { VALUE, REGISTER, MEMORY, USER_MEMORY, STRING, TYPED, LATENCY };

static enum value put_fetch(struct rng *r, struct text *t,
			    struct context *c, int depth);

static enum value put_deref(struct rng *r, struct text *t,
			    struct context *c, int depth)
{
	bool user = chance(r, 20);

	put(t, "%c%s", "+-"[below(r, 2)], user ? "u" : "");
	put_number(r, t, 4096);
	put(t, "(");
	put_fetch(r, t, c, depth + 1);
	put(t, ")");
	return user ? USER_MEMORY : MEMORY;
}

static enum value put_memory(struct rng *r, struct text *t)
{
	if (chance(r, 20)) {
		put(t, "@0x%lx", vfs_read_addr);
		return MEMORY;
	}
	put(t, "@%s", one_of(r, data));
	if (chance(r, 40)) {
		put(t, "%c", "+-"[below(r, 2)]);
		put_number(r, t, 64);
	}
	return MEMORY;
}

static enum value put_immediate(struct rng *r, struct text *t, int depth)
{
	if (!depth && chance(r, 30)) {
		put(t, "\\\"text%u\"", below(r, 100));
		return STRING;
	}
	put(t, "\\%s", chance(r, 20) ? "-" : "");
	put_number(r, t, 100000);
	return VALUE;
}

static enum value put_variable(struct rng *r, struct text *t,
			       struct context *c, int depth)
{
	if (c->latency && !opt.old && !depth && chance(r, 30)) {
		put(t, "$latency");
		c->latency = false;
		return LATENCY;
	}
	if (c->returns && (!c->fn || c->fn->has_retval) && chance(r, 40)) {
		if (!c->fn)
			c->fate = MAY_FAIL;
		put(t, "$retval");
		return VALUE;
	}
	if (c->fn && chance(r, 40)) {
		put(t, "$arg%u", 1 + below(r, c->fn->nr_args));
		return VALUE;
	}
	if (c->stack && chance(r, 50)) {
		put(t, "$stack");
		if (chance(r, 70))
			put(t, "%u", below(r, 32));
		return VALUE;
	}
	if (!depth) {
		put(t, chance(r, 90) ? "$comm" : "$COMM");
		return STRING;
	}
	return put_memory(r, t);
}

static const char *any_field(struct rng *r, const struct function *fn)
{
	unsigned int n = 0;

	while (n < ARRAY_SIZE(fn->fields) && fn->fields[n])
		n++;
	return n ? fn->fields[below(r, n)] : NULL;
}

/* A parameter, or a member that one leads to. */
static enum value put_btf(struct rng *r, struct text *t, struct context *c,
			  int depth)
{
	const char *field = any_field(r, c->fn);

	/* Nothing is said of what is dereferenced by hand. */
	if (opt.no_btf || depth)
		c->fate = MAY_FAIL;
	if (c->returns && c->fn->retval && chance(r, 50))
		put(t, "%s", c->fn->retval);
	else if (field && c->fields && chance(r, 60))
		put(t, "%s", field);
	else
		put(t, "%s", c->fn->args[below(r, c->fn->nr_args)]);
	return TYPED;
}

static enum value put_fetch(struct rng *r, struct text *t,
			    struct context *c, int depth)
{
	unsigned int way = below(r, 100);

	if (depth < 5 && way < 25)
		return put_deref(r, t, c, depth);
	if (way < 40)
		return put_memory(r, t);
	if (way < 50 && !depth)
		return put_immediate(r, t, depth);
	if (way < (depth ? 45 : 65) && c->btf && c->fn)
		return put_btf(r, t, c, depth);
	if (way < 85 && c->regs) {
		put(t, "%%%s", one_of(r, regs));
		return REGISTER;
	}
	return put_variable(r, t, c, depth);
}

static void put_bitfield(struct rng *r, struct text *t)
{
	unsigned int size = 8 << below(r, 4);
	unsigned int width = 1 + below(r, size - 1);

	put(t, ":b%u@%u/%u", width, below(r, size - width), size);
}

static void put_type(struct rng *r, struct text *t, enum value value)
{
	static const char * const strings[] = { "string", "ustring" };
	bool memory = value == MEMORY || value == USER_MEMORY;
	unsigned int way = below(r, 100);

	if (way < 30 || value == TYPED || value == LATENCY)
		return;
	if (value == STRING) {
		if (way < 50)
			put(t, ":string");
		return;
	}
	if (way < 40) {
		put_bitfield(r, t);
	} else if (value == REGISTER && way < 50) {
		put(t, ":symstr");
	} else if (value == REGISTER && way < 55) {
		put(t, ":%%p%c", "dD"[below(r, 2)]);
	} else if (memory && way < 60) {
		put(t, ":%s", one_of(r, strings));
		if (chance(r, 20))
			put(t, "[%u]", 1 + below(r, 8));
	} else {
		put(t, ":%s", one_of(r, scalars));
		/* The base takes no such array of user memory. */
		if ((opt.lenient ? value == MEMORY : memory) && chance(r, 30))
			put(t, "[%u]", 1 + below(r, 63));
	}
}

/* The @nr-th argument; those without a name are called "arg" and a number. */
static void put_arg(struct rng *r, struct text *t, struct context *c, int nr)
{
	struct text body = { .len = 0 };
	enum value value;
	size_t at;

	if (c->btf && c->fn && !c->all_args && chance(r, 5)) {
		c->all_args = true;
		if (opt.no_btf)
			c->fate = MAY_FAIL;
		put(t, " $arg*");
		return;
	}
	value = put_fetch(r, &body, c, 0);
	/* Some bring their own names, which may be taken. */
	if (value == TYPED || !strncmp(body.s, "$arg", 4) || chance(r, 50))
		put(t, " v%d_%c=", nr, 'a' + below(r, 26));
	else
		put(t, " ");
	at = t->len;
	put(t, "%s", body.s);
	put_type(r, t, value);
	if (t->len - at > LONGEST_ARG)
		c->fate = MAY_FAIL;
}

static void put_args(struct rng *r, struct text *t, struct context *c)
{
	unsigned int i, n = below(r, 6);

	if (chance(r, 1))
		n = 20 + below(r, 60);
	/* Nothing is said of how long an event can be. */
	if (n > 6)
		c->fate = MAY_FAIL;
	for (i = 0; i < n && t->len < 2000; i++)
		put_arg(r, t, c, i);
	/* Its names may be those of others. */
	if (c->all_args && n > 1)
		c->fate = MAY_FAIL;
}

/* The name, if any: unique by the line's number. */
static void put_name(struct rng *r, struct text *t, struct context *c,
		     uint64_t nr)
{
	unsigned int way = below(r, 100);
	unsigned long n = nr;

	if (way < 80) {
		put(t, ":" GROUP "/e%lu", n);
	} else if (way < 90) {
		put(t, ":e%lu", n);
	} else {
		/* Made from the place, so another line may have it. */
		if (way < 95)
			put(t, ":" GROUP "/");
		c->fate = MAY_FAIL;
	}
}

static void put_glob(struct rng *r, struct text *t, struct context *c)
{
	static const char * const globs[] = {
		"vfs_*", "do_sys_open*", "*_getattr", "tcp_v4_*", "dput*",
		"filp_*", "generic_file_*", "*vfs_read*",
	};
	static const char * const perhaps[] = {
		"vfs_rea?", "vfs_[rw]*", "nomod:vfs_*", "[", "vfs_**", "*",
		"nothing_like_this_*", "vfs_*+4", "vfs_[",
	};

	if (chance(r, 10)) {
		c->fate = MAY_FAIL;
		put(t, "%s", one_of(r, perhaps));
	} else {
		put(t, "%s", one_of(r, globs));
	}
	c->fn = NULL;
	c->btf = false;
}

/* Where a kprobe is; %return comes behind it, if anything. */
static void put_place(struct rng *r, struct text *t, struct context *c)
{
	unsigned int way = below(r, 100);

	c->fn = &one_of(r, functions);
	/* Rarely, see make_line(). */
	if (way < 1 && !opt.old) {
		put(t, " ");
		put_glob(r, t, c);
	} else if (way < 3) {
		/* The kernel has a line in its log for each. */
		put(t, " nomod:%s", c->fn->name);
		c->fn = NULL;
		c->btf = false;
	} else if (way < 12 && !c->returns && !opt.lenient) {
		/* The base lists another address than the one it was given. */
		put(t, " 0x%lx", vfs_read_addr);
		c->fn = NULL;
		c->btf = false;
	} else if (way < 17 && !c->returns) {
		/* It may not be where an instruction begins. */
		put(t, " %s+%u", c->fn->name, 1 + below(r, 40));
		c->fn = NULL;
		c->btf = false;
		c->fate = MAY_FAIL;
	} else {
		put(t, " %s%s", c->fn->name, chance(r, 15) ? "+0" : "");
	}
}

static enum fate put_kprobe(struct rng *r, struct text *t, uint64_t nr)
{
	struct context c = {
		.regs = true, .stack = true, .btf = true, .fields = true,
		.fate = MUST_PASS,
	};
	bool suffix = chance(r, 15);

	c.returns = suffix || chance(r, 35);
	c.latency = c.returns;
	put(t, c.returns && !suffix ? "r" : "p");
	if (c.returns && !suffix && chance(r, 25))
		put(t, "%u", 1 + below(r, 64));
	put_name(r, t, &c, nr);
	put_place(r, t, &c);
	if (suffix)
		put(t, "%%return");
	put_args(r, t, &c);
	return c.fate;
}

static enum fate put_fprobe(struct rng *r, struct text *t, uint64_t nr)
{
	struct context c = {
		.fn = &one_of(r, functions), .stack = true, .btf = true,
		.fields = true, .returns = chance(r, 40), .fate = MAY_FAIL,
	};

	put(t, "f");
	put_name(r, t, &c, nr);
	put(t, " %s%s", c.fn->name, c.returns ? "%return" : "");
	put_args(r, t, &c);
	return MAY_FAIL;
}

static enum fate put_tracepoint(struct rng *r, struct text *t, uint64_t nr)
{
	static const struct function on = {
		"sched_switch", false, 3, { "preempt", "prev", "next" },
		.fields = { "next->pid", "prev->comm:string",
			    "next->sched_reset_on_fork" }
	};
	struct context c = { .fn = &on, .btf = true, .fields = true };

	put(t, "t");
	put_name(r, t, &c, nr);
	put(t, " sched_switch");
	put_args(r, t, &c);
	return MAY_FAIL;
}

static enum fate put_eprobe(struct rng *r, struct text *t, uint64_t nr)
{
	static const char * const fields[] = {
		"prev_comm", "prev_pid", "next_comm", "next_pid", "common_pid",
	};
	struct context c = { .fate = MAY_FAIL };
	unsigned int i, n = below(r, 4);

	put(t, "e");
	put_name(r, t, &c, nr);
	put(t, " sched%csched_switch", "./"[below(r, 2)]);
	for (i = 0; i < n; i++) {
		put(t, " v%u=$%s", i, one_of(r, fields));
		put_type(r, t, VALUE);
	}
	put_args(r, t, &c);
	return MAY_FAIL;
}

/* On a program that nobody runs, should it get enabled. */
static enum fate put_uprobe(struct rng *r, struct text *t, uint64_t nr)
{
	struct context c = {
		.regs = true, .stack = true, .returns = chance(r, 40),
	};

	put(t, "%c", c.returns ? 'r' : 'p');
	put_name(r, t, &c, nr);
	put(t, " /bin/false:0x%x", 0x1000 + below(r, 0x1000));
	if (chance(r, 10))
		put(t, "(0x%x)", below(r, 64) * 2);
	put_args(r, t, &c);
	return MAY_FAIL;
}

/* Of a line of this batch, mostly. */
static enum fate put_deletion(struct rng *r, struct text *t, uint64_t nr)
{
	unsigned long which = nr - below(r, nr % BATCH + 2);

	put(t, "-:%se%lu", chance(r, 70) ? GROUP "/" : "", which);
	return MAY_FAIL;
}

enum fate generate(struct rng *r, struct text *t, uint64_t nr,
		   enum tracefs_file target)
{
	unsigned int way = below(r, 100);

	if (way < 3)
		return put_deletion(r, t, nr);
	if (target == DYNAMIC_EVENTS) {
		way = below(r, 100);
		/* An fprobe has all functions walked through. */
		if (way < 3)
			return put_fprobe(r, t, nr);
		if (way < 15)
			return put_tracepoint(r, t, nr);
		if (way < 40)
			return put_eprobe(r, t, nr);
		if (way < 65)
			return put_uprobe(r, t, nr);
	}
	return put_kprobe(r, t, nr);
}
