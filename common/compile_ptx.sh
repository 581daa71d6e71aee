#!/bin/sh
# compile_ptx.sh FOLDER WAY DEPFILE COMMAND...: runs the command, which compiles a kernel and lists in DEPFILE what it read.
#
# The compiler is told absolute paths, so that the PTX has them. In DEPFILE the course's FOLDER is replaced by WAY, which
# leads to it from the build folder, as a C compiler has it: Ninja 1.11 cannot read a path there with an & in it, and
# compiles the kernel again each time.
set -e
folder=$(printf '%s/' "$1" | sed 's/[ #]/\\&/g') way=$2/ depfile=$3
shift 3
# Where a static_assert does not hold, most other errors follow from it, and it is the one that says why.
said=$depfile.said
"$@" 2>"$said" || {
  status=$?
  awk '
    /error: static[ _]assert/ { on = 1; n++ }
    !/error: static[ _]assert/ && (/: (fatal )?(error|warning|note):/ || /: (error|warning) #/ || /^$/ || /^[0-9]+ errors? /) { on = 0 }
    on { asserted = asserted $0 "\n" }
    { all = all $0 "\n" }
    /: (fatal )?error[: ]/ { errors++ }
    END {
      printf "%s", n ? asserted : all
      if (n && errors > n) print "The errors that follow from this are left out."
    }' "$said" >&2
  rm -f "$said"
  exit $status
}
cat "$said" >&2
rm -f "$said"
FOLDER=$folder WAY=$way awk '{
  done = ""
  for (rest = " " $0; at = index(rest, " " ENVIRON["FOLDER"]); rest = substr(rest, at + 1 + length(ENVIRON["FOLDER"])))
    done = done substr(rest, 1, at) ENVIRON["WAY"]
  print substr(done rest, 2)
}' "$depfile" >"$depfile.new"
mv "$depfile.new" "$depfile"
