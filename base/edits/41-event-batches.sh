# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several probe events in one stroke: begin and commit around the loops over them.

# Set $line to the first line below the anchor that is TEXT.
find_below() # FILE ANCHOR TEXT
{
	local found

	find_anchor "$1" "$2"
	found=$(tail -n +$((line + 1)) "$EDITED/$1" | grep -nxF -m1 -e "$3") ||
		edit_fail "$1" "no '$3' below '$2'"
	line=$((line + ${found%%:*}))
}

events=kernel/trace/trace_events.c
insert_after $events '#include "trace_output.h"' <<'END'
#include "trace_probe_batch.h"
END

# Whatever enables or disables more than one event comes down to this function...
anchor='__ftrace_set_clr_event_nolock(struct trace_array *tr, const char *match,'
find_below $events "$anchor" '	int eret = 0;'
splice $events $((line + 1)) $line <<'END'

	trace_kprobe_batch_begin();
END
find_below $events "$anchor" '	return ret;'
splice $events $line $line <<'END'
	return trace_kprobe_batch_commit(ret);
END

# ... or, when set_event is truncated, to this one.
anchor='static void ftrace_clear_events(struct trace_array *tr)'
find_below $events "$anchor" '	mutex_lock(&event_mutex);'
splice $events $((line + 1)) $line <<'END'
	trace_kprobe_batch_begin();
END
find_below $events "$anchor" '	mutex_unlock(&event_mutex);'
splice $events $line $((line - 1)) <<'END'
	trace_kprobe_batch_commit(0);
END

dynevent=kernel/trace/trace_dynevent.c
insert_after $dynevent '#include "trace_dynevent.h"' <<'END'
#include "trace_probe_batch.h"
END
find_below $dynevent 'int dyn_event_release(const char *raw_command, ' '	char **argv;'
splice $dynevent $((line + 1)) $line <<'END'

	guard(trace_kprobe_deletion)();
END
find_below $dynevent 'int dyn_events_release_all(struct dyn_event_operations *type)' \
	'	int ret = 0;'
splice $dynevent $((line + 1)) $line <<'END'

	guard(trace_kprobe_deletion)();
END
find_below $dynevent 'static ssize_t dyn_event_write(struct file *file, ' '{'
splice $dynevent $((line + 1)) $line <<'END'
	guard(trace_kprobe_deletion)();

END
