# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several probe events in one stroke: begin and commit around the loops over them.

events=kernel/trace/trace_events.c
insert_after $events '#include "trace_output.h"' <<'END'
#include "trace_probe_batch.h"
END

# Whatever enables or disables more than one event comes down to this function...
anchor='__ftrace_set_clr_event_nolock(struct trace_array *tr, const char *match,'
insert_below $events "$anchor" '	int eret = 0;' <<'END'

	trace_kprobe_batch_begin();
END
replace_below $events "$anchor" '	return ret;' <<'END'
	return trace_kprobe_batch_commit(ret);
END

# ... or, when set_event is truncated, to this one.
anchor='static void ftrace_clear_events(struct trace_array *tr)'
insert_below $events "$anchor" '	mutex_lock(&event_mutex);' <<'END'
	trace_kprobe_batch_begin();
END
replace_below $events "$anchor" '	mutex_unlock(&event_mutex);' <<'END'
	trace_kprobe_batch_commit(0);
	mutex_unlock(&event_mutex);
END

# Deletions: one by one in a write's lines, or all.
dynevent=kernel/trace/trace_dynevent.c
insert_after $dynevent '#include "trace_dynevent.h"' <<'END'
#include "trace_probe_batch.h"
END
anchor='int dyn_event_release(const char *raw_command, '
insert_below $dynevent "$anchor" '	char **argv;' <<'END'

	guard(trace_kprobe_deletion)();
END
anchor='int dyn_events_release_all(struct dyn_event_operations *type)'
insert_below $dynevent "$anchor" '	int ret = 0;' <<'END'

	guard(trace_kprobe_deletion)();
END
insert_below $dynevent 'static ssize_t dyn_event_write(struct file *file, ' '{' <<'END'
	guard(trace_kprobe_deletion)();

END
