# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Touch points: one-line changes to files of the base that we keep.
#
# An anchor is a fixed string that must be found in exactly one line of the
# file; otherwise the edit fails and says so.  Each run starts again from the
# pristine file, so an edit never meets its own result.
#
#	replace_line  FILE ANCHOR NEW	the whole line becomes NEW
#	delete_line   FILE ANCHOR
#	insert_after  FILE ANCHOR	the lines of stdin go below it
#	insert_before FILE ANCHOR	the lines of stdin go above it
#
# In a file that says the same in many places, the anchor is what stands above: TEXT
# is the whole of a line, and the first one below the anchor is meant.
#
#	insert_below  FILE ANCHOR TEXT	the lines of stdin go below it
#	replace_below FILE ANCHOR TEXT	they stand in its place
#
# tools/build/lay sources this; PRISTINE is the base, EDITED receives the
# files as edited.

edit_fail()
{
	echo "$EDIT: $1: $2" >&2
	exit 1
}

# Copy the file on its first edit, and set $line to where the anchor is.
find_anchor() # FILE ANCHOR
{
	local found

	if [ ! -e "$EDITED/$1" ]; then
		[ -f "$PRISTINE/$1" ] || edit_fail "$1" "no such file in the base"
		mkdir -p "$(dirname "$EDITED/$1")"
		cp -p "$PRISTINE/$1" "$EDITED/$1"
	fi
	mapfile -t found < <(grep -nF -e "$2" "$EDITED/$1")
	[ ${#found[@]} -eq 1 ] ||
		edit_fail "$1" "anchor in ${#found[@]} lines, not one: '$2'"
	line=${found[0]%%:*}
}

# Set $line to the first line below the anchor that is TEXT.
find_below() # FILE ANCHOR TEXT
{
	local found

	find_anchor "$1" "$2"
	found=$(tail -n +$((line + 1)) "$EDITED/$1" | grep -nxF -m1 -e "$3") ||
		edit_fail "$1" "no '$3' below '$2'"
	line=$((line + ${found%%:*}))
}

# Put the lines of stdin in place of lines $2..$3 (none when $3 < $2).
splice() # FILE FIRST LAST
{
	local new=$EDITED/.new

	{
		head -n $(($2 - 1)) "$EDITED/$1"
		cat
		tail -n +$(($3 + 1)) "$EDITED/$1"
	} >"$new"
	cat "$new" >"$EDITED/$1"
	rm "$new"
}

replace_line()
{
	find_anchor "$1" "$2"
	printf '%s\n' "$3" | splice "$1" "$line" "$line"
}

delete_line()
{
	find_anchor "$1" "$2"
	splice "$1" "$line" "$line" </dev/null
}

insert_after()
{
	find_anchor "$1" "$2"
	splice "$1" $((line + 1)) "$line"
}

insert_before()
{
	find_anchor "$1" "$2"
	splice "$1" "$line" $((line - 1))
}

insert_below()
{
	find_below "$1" "$2" "$3"
	splice "$1" $((line + 1)) "$line"
}

replace_below()
{
	find_below "$1" "$2" "$3"
	splice "$1" "$line" "$line"
}
