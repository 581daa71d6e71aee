#!/bin/sh
# compile_ptx.sh FOLDER WAY DEPFILE COMMAND...: runs the command, which compiles a kernel and lists in DEPFILE what it read.
#
# The compiler is told absolute paths, so that the PTX has them. In DEPFILE the course's FOLDER is replaced by WAY, which
# leads to it from the build folder, as a C compiler has it: Ninja 1.11 cannot read a path there with an & in it, and
# compiles the kernel again each time.
set -e
folder=$(printf '%s/' "$1" | sed 's/[ #]/\\&/g') way=$2/ depfile=$3
shift 3
"$@"
FOLDER=$folder WAY=$way awk '{
  done = ""
  for (rest = " " $0; at = index(rest, " " ENVIRON["FOLDER"]); rest = substr(rest, at + 1 + length(ENVIRON["FOLDER"])))
    done = done substr(rest, 1, at) ENVIRON["WAY"]
  print substr(done rest, 2)
}' "$depfile" >"$depfile.new"
mv "$depfile.new" "$depfile"
