#!/bin/sh
# embed.sh NAME PTX: writes C with the text of a PTX file as the array NAME, and a NUL behind it. What only a debugger needs
# is left out: lines of the source, and the folders of the machine that built it.
set -e
printf '// Made by embed.sh.\n#include "kernels.h"\n\nconst char %s[] = {\n' "$1"
awk '/^[ \t]*\.section/ { debug = 1 }
  !debug && !/^[ \t]*\.(loc|file)[ \t]/ && !/^[ \t]*\/\// && NF { print }
  debug && /\}/ { debug = 0 }' "$2" | od -An -v -td1 | sed "s/[0-9][0-9]*/&,/g"
printf '0 };\nconst size_t %s_bytes = sizeof %s - 1;\n' "$1" "$1"
