#!/bin/sh
# algorithms.sh MESON BUILD PROGRAM: builds a program of CUDA's algorithms, for which nvcc takes long, and runs it through
# common/cudart: right, and clean under the checks.
set -eu
"$1" compile -C "$2" "$(basename "$3")" cuda_runtime
export LD_LIBRARY_PATH="$2/common/cudart"
"$3"
said=$(CUDART_CHECK=1 "$3" 2>&1 >/dev/null)
echo "$said"
case $said in
*", 0 of them with findings: 0 findings and 0 advices") ;;
*) exit 1 ;;
esac
