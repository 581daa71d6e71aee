#!/bin/sh
# archive.sh OUT AR OBJCOPY PARTS OTHERS... -- CC...: a static library of one object: all of PARTS, and what that needs of
# the archives OTHERS. Of its symbols only gemm_steps_* can be seen from outside, so that none meets a program's own.
set -e
out=$1 ar=$2 objcopy=$3 parts=$4
shift 4
others=
while [ "$1" != -- ]; do
  others="$others '$1'"
  shift
done
shift
object=$out.o
eval '"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$parts" -Wl,--no-whole-archive -Wl,--start-group' "$others" '-Wl,--end-group'
"$objcopy" --wildcard --keep-global-symbol='gemm_steps_*' "$object"
rm -f "$out"
"$ar" rcs "$out" "$object"
rm "$object"
