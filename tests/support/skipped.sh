#!/bin/sh
# skipped.sh FILE: what the tests of this run of Meson skipped, and why, for whoever reads its screen. FILE has a line for each,
# "RUN test_NAME: REASON", by skipped.h; RUN is the process that started the tests, which has started this one, too.
set -eu
[ -f "$1" ] || exit 0
sed -nE "s/^$PPID (test|check)_//p" "$1" | awk '{
        name = $1; sub(/:$/, "", name); sub(/^[^ ]+ /, "")
        if (!($0 in count)) reason[++n] = $0
        if (!count[$0 SUBSEP name]++) names[$0] = ++many[$0] > 4 ? many[$0] " programs" : names[$0] (many[$0] > 1 ? ", " : "") name
        count[$0]++
    } END {
        for (i = 1; i <= n && i <= 20; i++) printf "%d skipped in %s: %s\n", count[reason[i]], names[reason[i]], reason[i]
        if (n > 20) printf "and for %d other reasons, which meson-logs/testlog*.txt has\n", n - 20
    }'
rm -f "$1"
