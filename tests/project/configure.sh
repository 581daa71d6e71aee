#!/bin/sh
# configure.sh SOURCE: Meson configures the tree where there is clang and no nvcc at all, and builds no kernel of a step that
# it leaves out; the target installed makes what is installed, and nothing else. Where there is neither it says in one line what
# is missing.
set -eu
command -v clang >/dev/null || { echo "clang is not on the PATH"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
meson setup "$folder/clang" "$1" -Dkernels=clang -Dnvcc=/nonexistent >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
grep 'The kernels are compiled by clang' "$folder/log"
left_out=$(sed -n 's/.*Left out: \(.*\)\. They need.*/\1/p' "$folder/log" | tr -d ,)
[ "$left_out" ] || { echo "No step is left out"; exit 1; }
ninja -C "$folder/clang" -t commands >"$folder/commands"
for step in $left_out; do
    if grep "steps/$step/kernel\.cu" "$folder/commands"; then
        echo "$step is left out, and this compiles its kernel"
        exit 1
    fi
done
# The target installed makes all that is installed, and nothing else.
meson introspect --installed "$folder/clang" | tr ',' '\n' |
    sed -n "s|.*\"$folder/clang/\([^\"]*\)\": .*|\1|p" | grep -v '^meson-private/' >"$folder/files"
(cd "$folder/clang" && xargs ninja -t commands) <"$folder/files" | sort -u >"$folder/wanted"
ninja -C "$folder/clang" -t commands installed | grep -v '^ninja: ' | sort -u >"$folder/made"
[ -s "$folder/wanted" ] && diff "$folder/wanted" "$folder/made"
if meson setup "$folder/none" "$1" -Dkernels=nvcc -Dnvcc=/nonexistent >"$folder/log" 2>&1; then
    echo "It was configured without an nvcc"
    exit 1
fi
grep 'ERROR: .*nvcc was not found. Looked for: /nonexistent. Install the CUDA toolkit' "$folder/log"
