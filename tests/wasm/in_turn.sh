#!/bin/sh
# How much faster one build's simulator is than another's, kernel by kernel, both with the second build's PTX:
#
#   tests/wasm/in_turn.sh OLD_BUILD NEW_BUILD [M N K [STEP.ptx...]]      512 512 512 and all steps, if none are named
#
# Both builds need their program tests/same (ninja -C BUILD tests/same). They run in turn, ROUNDS times (3). A row has
# the least milliseconds of processor time of one launch, old and new, without checks and with them, how many times
# faster the new one is, and the noise: by how many percent the least of a round differed from the least of all.
set -e
[ $# -ge 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
old=$1/tests/same new=$2/tests/same build=$2
shift 2
[ $# -ge 3 ] || set -- 512 512 512
size="$1 $2 $3"
shift 3
[ $# -gt 0 ] || set -- "$build"/steps/0[1-9]_*/0[1-9]_*.ptx "$build"/steps/[12]*_*/[12]*_*.ptx
for round in $(seq "${ROUNDS:-3}"); do
  for step; do
    programs="old new"
    [ $((round % 2)) = 1 ] || programs="new old"
    for which in $programs; do
      [ $which = old ] && program=$old || program=$new
      # shellcheck disable=SC2086
      echo "$which $("$program" --time $size "$step")"
    done
  done
done | awk '
  function least(key, ms) {
    if (!(key in min) || ms < min[key]) min[key] = ms
    if (ms > max[key]) max[key] = ms
  }
  { least($1 "plain" $2, $3); least($1 "checked" $2, $4); if (!($2 in seen)) { seen[$2] = 1; name[n++] = $2 } }
  function row(of, how) {
    ratio = min["old" how of] / min["new" how of]
    logs[how] += log(ratio)
    return sprintf(" %9.1f %9.1f %6.2f %4.0f %4.0f", min["old" how of], min["new" how of], ratio,
                   100 * (max["old" how of] / min["old" how of] - 1), 100 * (max["new" how of] / min["new" how of] - 1))
  }
  END {
    printf "%-26s %9s %9s %6s %9s | checked the same\n", "", "old ms", "new ms", "times", "noise, %"
    for (i = 0; i < n; i++) printf "%-26s%s |%s\n", name[i], row(name[i], "plain"), row(name[i], "checked")
    printf "%-26s %26.2f %11s %26.2f\n", "geometric mean", exp(logs["plain"] / n), "|", exp(logs["checked"] / n)
  }'
