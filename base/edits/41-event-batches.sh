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

# Deletions, and places for events that are enabled: one by one in a write's lines;
# or all are deleted.
dynevent=kernel/trace/trace_dynevent.c
insert_after $dynevent '#include "trace_dynevent.h"' <<'END'
#include "trace_probe_batch.h"
END
anchor='int dyn_event_release(const char *raw_command, '
insert_below $dynevent "$anchor" '	char **argv;' <<'END'

	guard(trace_kprobe_write)();
END
anchor='int dyn_events_release_all(struct dyn_event_operations *type)'
insert_below $dynevent "$anchor" '	int ret = 0;' <<'END'

	guard(trace_kprobe_write)();
END
anchor='static ssize_t dyn_event_write(struct file *file, '
replace_below $dynevent "$anchor" '	return trace_parse_run_command(file, buffer, count, ppos,' <<'END'
	return trace_kprobe_run_commands(file, buffer, count, ppos,
END

# What deletion leaves in the buffers: the number of an event is free when they have
# been emptied, be it later.
anchor='int dyn_event_release(const char *raw_command, '
replace_below $dynevent "$anchor" '	tracing_reset_all_online_cpus();' <<'END'
	trace_kprobe_reset_buffers();
END
anchor='int dyn_events_release_all(struct dyn_event_operations *type)'
replace_below $dynevent "$anchor" '	tracing_reset_all_online_cpus();' <<'END'
	trace_kprobe_reset_buffers();
END
insert_below kernel/trace/trace.h 'struct trace_array {' '	bool			clear_trace;' <<'END'
	bool			clear_later;	/* trace_kprobe_reset.c */
END
output=kernel/trace/trace_output.c
insert_after $output '#include "trace_output.h"' <<'END'
#include "trace_probe_batch.h"
END
anchor='static void free_trace_event_type(int type)'
insert_before $output "$anchor" <<'END'
void trace_event_free_type(int type)
{
	ida_free(&trace_event_ida, type);
}

END
replace_below $output "$anchor" '	if (type >= __TRACE_LAST_TYPE)' <<'END'
	if (type >= __TRACE_LAST_TYPE && !trace_kprobe_keeps_type(type))
END
