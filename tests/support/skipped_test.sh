#!/bin/sh
# skipped_test.sh SKIPPED_SH: it says of this run alone what was skipped, the tests of one reason in one line, and once.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '%s\n' "$$ test_steps: no GPU: no driver" "$$ test_steps: no GPU: no driver" "1$$ test_old: another run" \
    "$$ check_01: waits" "$$ test_library: no GPU: no driver" >"$folder/skipped"
sh "$1" "$folder/skipped" >"$folder/said"
printf '%s\n' '3 skipped in steps, library: no GPU: no driver' '1 skipped in 01: waits' | diff - "$folder/said"
sh "$1" "$folder/skipped" >"$folder/said"
diff /dev/null "$folder/said"
for i in 1 2 3 4 5 6; do echo "$$ check_$i: not started"; done >"$folder/skipped"
sh "$1" "$folder/skipped" | grep -x '6 skipped in 6 programs: not started'
