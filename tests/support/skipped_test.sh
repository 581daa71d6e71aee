#!/bin/sh
# skipped_test.sh SKIPPED_SH: it says of this run alone what was skipped, the tests of one reason in one line, and once.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '%s\n' "$$ test_steps: no GPU: no driver" "$$ test_steps: no GPU: no driver" "1$$ test_old: another run" \
    "$$ test_check: waits" "$$ test_library: no GPU: no driver" >"$folder/skipped"
sh "$1" "$folder/skipped" >"$folder/said"
printf '%s\n' '3 skipped in steps, library: no GPU: no driver' '1 skipped in check: waits' | diff - "$folder/said"
sh "$1" "$folder/skipped" >"$folder/said"
diff /dev/null "$folder/said"
