#!/bin/sh
# Compiles the public kernels of tests/clock/public/sources.tsv: public_kernels.sh REPOSITORIES OUT. REPOSITORIES is a folder with
# clones of the repositories that its head names; OUT gets a PTX file for each source. What cannot be compiled is named.
set -u
[ $# = 2 ] || { echo "usage: public_kernels.sh REPOSITORIES OUT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
failed=0
tab=$(printf '\t')
while IFS=$tab read -r name file cut folders behind; do
    case $name in '#'*) continue ;; esac
    include="-I $1/$(dirname "$file")"
    [ "$folders" = - ] || for f in $folders; do include="$include -I $1/$f"; done
    source=$2/$name.cu
    if [ "$cut" = - ]; then cat "$1/$file"; else sed -e "/$cut/,\$d" -e '/include <torch/d' -e '/include <c10/d' "$1/$file"; fi > "$source"
    [ "$behind" = - ] || printf '%s\n' "$behind" >> "$source"
    # shellcheck disable=SC2086
    if "${NVCC:-nvcc}" -ptx -arch=compute_90 -std=c++17 -w -DcudaThreadSynchronize=cudaDeviceSynchronize -include cstdint $include -o "$2/$name.ptx" "$source"; then
        rm "$source"
    else
        echo "public_kernels.sh: $file was not compiled" >&2
        failed=1
    fi
done < "$here/public/sources.tsv"
exit $failed
