#!/bin/sh
# tests/project/arm64.sh [BUILD [FOLDER]]: the steps and the parts on ARM64, from an x86-64 Debian. Builds them with
# aarch64-linux-gnu-gcc, compares what each step computes and counts with BUILD (build), and runs their tests under qemu.
# FOLDER (build-arm64) gets the libraries of an ARM64 Debian and the build. It needs gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross, qemu-user, debootstrap, and root for binfmt_misc: Criterion starts a process for each test, and
# Linux has to know that qemu runs it.
#
# The kernels are compiled on x86-64: .ci/nvcc takes those of BUILD.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
for program in aarch64-linux-gnu-gcc qemu-aarch64 debootstrap; do
    command -v $program >/dev/null || { echo "$program is not there"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "binfmt_misc is for root"; exit 77; }
cd "$top"
first=$(cd "${1:-build}" && pwd)
folder=$(mkdir -p "${2:-build-arm64}" && cd "${2:-build-arm64}" && pwd)
sysroot=$folder/sysroot
packages=libcriterion-dev,libgcc-12-dev,libc6-dev

fetch_libraries()
{
    rm -rf "$folder/download" "$sysroot"
    debootstrap --download-only --arch=arm64 --variant=minbase --include=$packages bookworm "$folder/download" >/dev/null
    mkdir "$sysroot"
    for package in "$folder"/download/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$sysroot"
    done
    # What points to /lib means that of the sysroot.
    find "$sysroot" -type l -lname '/*' | while read -r link; do
        ln -sfn "$sysroot$(readlink "$link")" "$link"
    done
    rm -rf "$folder/download"
    touch "$sysroot/complete"
}

let_the_kernel_run_arm64()
{
    handlers=/proc/sys/fs/binfmt_misc
    [ -e $handlers/register ] || mount -t binfmt_misc none $handlers
    ! grep -qs 'magic 7f454c460201010000000000000000000200b700' $handlers/* || return 0
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":gemm-steps-arm64:M::$magic:$mask:$(command -v qemu-aarch64):" >$handlers/register
    trap 'echo -1 >$handlers/gemm-steps-arm64' EXIT
}

# What the driver says of its kernel: value NAME
value()
{
    sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$folder/step.json"
}

# run SIMT NAME: one product with the kernel of step.json; its C in NAME.C, its counters in NAME.json. Where the kernel
# takes tensor maps, rows are whole pieces of 16 bytes; one that walks over tiles gets one block for all.
run()
{
    simt=$1 name=$2 type=$(value type) box=$(value box) cbox=$(value cbox) factor=f32
    [ "$type" != f64 ] || factor=f64
    m=130 n=70 k=45
    [ "$box" = 0 ] || { n=72 k=48; }
    a="[$((m * k))]" b="[$((k * n))]" map=
    if [ "$box" != 0 ]; then
        map=map: a="[$m,$k]box[$(value bm),$box]swizzle128" b="[$k,$n]box[$(value bk),$box]swizzle128"
    fi
    grid=$(((n - 1) / $(value bn) + 1)),$(((m - 1) / $(value bm) + 1))
    [ "$(value blocks)" = 0 ] || grid=1
    set -- "$factor:0.5" "C=$type[$((m * n))]=normal:3"
    [ "$cbox" = 0 ] || set -- "$@" "map:C[$m,$n]box[$cbox,$box]swizzle128"
    "$simt" profile "$(value ptx)" gemm --json "$folder/$name.json" --dump "C=$folder/$name.C" --shared "$(value shared)" \
        --grid "$grid" --block "$(value threads)" i32:$m i32:$n i32:$k $factor:1 "$map$type$a=normal:1" "$map$type$b=normal:2" \
        "$@" >/dev/null
}

# Every bit of C, and every counter of every line.
compare_steps()
{
    compared=0
    for name in $("$first/ladder" --list | cut -d' ' -f1); do
        "$first/$name" --describe >"$folder/step.json"
        run "$first/simt" x86
        run "$folder/build/simt" arm
        cmp "$folder/x86.C" "$folder/arm.C" && cmp "$folder/x86.json" "$folder/arm.json" || return 1
        compared=$((compared + 1))
    done
    echo "$compared kernels: the same C and the same counters on x86-64 and on ARM64"
    [ $compared = "$("$first/ladder" --list | wc -l)" ]
}

[ -e "$sysroot/complete" ] || fetch_libraries
let_the_kernel_run_arm64
export QEMU_LD_PREFIX="$sysroot"
sed "s#@SYSROOT@#$sysroot#" tests/project/arm64.ini >"$folder/arm64.ini"
[ -e "$folder/build/build.ninja" ] || meson setup "$folder/build" --cross-file "$folder/arm64.ini" -Dmaintainer=true -Dnvcc="$top/.ci/nvcc"
FIRST_BUILD=$first meson compile -C "$folder/build" unit_and_steps
compare_steps
meson test -C "$folder/build" --no-rebuild --print-errorlogs --setup brief --suite unit --suite steps --no-suite once
