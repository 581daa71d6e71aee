#!/bin/sh
# embed.sh NAME PTX: writes C with the text of a PTX file as the array NAME. What only a debugger needs is left out: lines of
# the source, and the folders of the machine that built it. It is a string, which a compiler reads in a thirtieth of the time
# that it takes for a list of numbers.
set -e
printf '// Made by embed.sh.\n#include "kernels.h"\n\nconst char %s[] =\n' "$1"
awk '/^[ \t]*\.section/ { debug = 1 }
  !debug && !/^[ \t]*\.(loc|file)[ \t]/ && !/^[ \t]*\/\// && NF { print }
  debug && /\}/ { debug = 0 }' "$2" | sed 's/[\\"?]/\\&/g; s/.*/"&\\n"/'
printf '"";\n'
