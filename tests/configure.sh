#!/bin/sh
# configure.sh SOURCE: Meson configures the tree where there is clang and no nvcc at all, and says in one line what is
# missing where there is neither.
set -eu
command -v clang >/dev/null || { echo "clang is not on the PATH"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
meson setup "$folder/clang" "$1" -Dkernels=clang -Dnvcc=/nonexistent >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
grep 'The kernels are compiled by clang' "$folder/log"
if meson setup "$folder/none" "$1" -Dkernels=nvcc -Dnvcc=/nonexistent >"$folder/log" 2>&1; then
    echo "It was configured without an nvcc"
    exit 1
fi
grep 'ERROR: .*nvcc was not found. Looked for: /nonexistent. Install the CUDA toolkit' "$folder/log"
