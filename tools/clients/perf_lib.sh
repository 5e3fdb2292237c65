# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What the scripts for perf share, sourced by them after lib.sh.

probe()
{
	perf probe -q "$@"
}

record()
{
	perf record -q -BN -o "$work/perf.data" "$@"
}

# Samples of the last record, as "EVENT: ARGUMENT...".
samples()
{
	perf script -i "$work/perf.data" -F event,trace |
		sed -E 's/^ *//; s/\([0-9a-f]+( <- [0-9a-f]+)?\) ?//; s/ +$//'
}
