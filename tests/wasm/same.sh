#!/bin/sh
# Runs the steps natively and as WebAssembly under Node, and compares all that they leave: C, counters, findings.
# usage: same.sh SAME SAME.js M N K STEP.ptx...     SAME is same.c, built for this machine
set -eu
native=$1 wasm=$2
shift 2
command -v node >/dev/null || { echo 'Node is not on the PATH'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$native" "$@" >"$folder/native"
# Its loader would fetch the module, which Node does from the network alone.
node --no-experimental-fetch "$wasm" "$@" >"$folder/wasm"
cmp "$folder/native" "$folder/wasm"
grep -c '^C ' "$folder/native" | sed 's/$/ results, their counters and findings are the same/'
