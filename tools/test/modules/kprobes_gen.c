// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events that a module makes: kprobe_event_gen_cmd_start() and its kin, on
 * a function of kprobes_target.c, which is called as often as one is told.
 *
 * parameters/refused is what a definition returned that is wrong.  "echo EVENT >
 * parameters/delete" deletes one of them, or fails as that does; those that are
 * left then go with the module.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#define FUNC	"kprobes_target:kprobes_target_add"

static int refused;
module_param(refused, int, 0444);

/* The fields come in two steps, of an event in a group of its own. */
static int make_entry(struct dynevent_cmd *cmd)
{
	int err = kprobe_event_gen_cmd_start(cmd, "own_gen/entry", FUNC,
					     "a=%di:s32", "b=%si:s32");

	if (!err)
		err = kprobe_event_add_fields(cmd, "who=$comm", "of=%ip:symbol");
	return err ?: kprobe_event_gen_cmd_end(cmd);
}

static int make_return(struct dynevent_cmd *cmd)
{
	int err = kretprobe_event_gen_cmd_start(cmd, "own_gen/return", FUNC,
						"ret=$retval:s32");

	return err ?: kretprobe_event_gen_cmd_end(cmd);
}

static int make_wrong(struct dynevent_cmd *cmd)
{
	int err = kprobe_event_gen_cmd_start(cmd, "own_gen/wrong", FUNC,
					     "a=%di:s33");

	return err ?: kprobe_event_gen_cmd_end(cmd);
}

static int made(int (*make)(struct dynevent_cmd *cmd))
{
	char *text = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	struct dynevent_cmd cmd;
	int err;

	if (!text)
		return -ENOMEM;
	kprobe_event_cmd_init(&cmd, text, MAX_DYNEVENT_CMD_LEN);
	err = make(&cmd);
	kfree(text);
	return err;
}

static int delete_set(const char *arg, const struct kernel_param *kp)
{
	char name[64];

	strscpy(name, arg, sizeof(name));
	return kprobe_event_delete(strim(name));
}

static const struct kernel_param_ops delete_ops = { .set = delete_set };
module_param_cb(delete, &delete_ops, NULL, 0200);

static int __init kprobes_gen_init(void)
{
	int err = made(make_entry);

	if (err)
		return err;
	err = made(make_return);
	if (err)
		kprobe_event_delete("own_gen/entry");
	refused = made(make_wrong);
	return err;
}

static void __exit kprobes_gen_exit(void)
{
	kprobe_event_delete("own_gen/entry");
	kprobe_event_delete("own_gen/return");
}

module_init(kprobes_gen_init);
module_exit(kprobes_gen_exit);
MODULE_DESCRIPTION("probe events made by a module");
MODULE_LICENSE("GPL");
