#!/usr/bin/env bash
# Builds and tests the course in places unlike a developer's. For a maintainer: each place takes some minutes.
#
#   tests/project/places.sh [PLACE...]      without one, all places in turn
#
#   links      a clone without symbolic links; a step of one's own, added as steps/README.md says
#   names      source and build in folders with blanks and & in their names
#   readonly   a source tree that cannot be written, and a user who is not root
#   install    meson install with DESTDIR and a prefix; what is installed runs when source and build are gone
#   release    meson dist, and what it packs builds and passes its tests
#
# What is committed is tried, not what lies in the working tree. JOBS=N sets how many jobs run at once, SETUP=brief takes
# the smallest sample of each test. A place that fails leaves its folder, whose name is printed.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
jobs=${JOBS:-$(nproc)}
setup=${SETUP:-some}
suites=(--suite unit --suite steps --suite exercises)

# --- the pieces ---

get() {  # FOLDER: a clone without symbolic links
  git -c core.symlinks=false clone -q "$source" "$1"
}

build() {  # SOURCE BUILD [OPTION...]: what a learner runs, with the tests of a maintainer
  meson setup "$2" "$1" -Dmaintainer=true "${@:3}"
  ninja -C "$2" -j "$jobs" course
}

check() {  # BUILD [WHAT...]: builds and runs all suites above, or what is named
  [ $# -gt 1 ] || set -- "$1" "${suites[@]}"
  MESON_TESTTHREADS=$jobs meson test -C "$1" --print-errorlogs --setup "$setup" "${@:2}"
}

climb() {  # LADDER STEPS: it runs, and that many results are right
  local said
  said=$("$1" --device=sim --size 64)
  echo "$said"
  [ "$(grep -c ' right ' <<<"$said")" = "$2" ]
}

# The first block of commands in the page of the steps behind the words.
page() {  # WORDS
  awk -v words="$1" 'index($0, words) { seen = 1 } seen && /^```$/ { exit } inside { print } seen && /^```sh$/ { inside = 1 }' steps/README.md
}

# --- the places ---

place_links() {
  get course
  cd course
  if git ls-files -s | grep '^120000'; then
    echo 'these files are symbolic links: a clone without them has text in their place'
    return 1
  fi
  local line commands
  commands=$(page '## A step of your own')
  line=$(sed -n "s/^add \`\(\['99_mine'.*\],\)\` to the list in .*/\1/p" steps/README.md)
  if [ -z "$commands" ] || [ -z "$line" ]; then
    echo 'steps/README.md does not say how to add a step'
    return 1
  fi
  bash -ec "$commands"
  sed -i "/^all_steps = \[/a $line" steps/meson.build
  build . build
  build/99_mine --device=sim --size 64
  climb build/ladder "$(build/ladder --list | wc -l)"
  build/ladder --list | grep '^99_mine '
  check build 99_mine
  check build
}

place_names() {
  mkdir 'here & there'
  get 'here & there/the course'
  build 'here & there/the course' 'here & there/the course/build & all'
  ninja -C 'here & there/the course/build & all' -n course | grep 'no work to do'
  check 'here & there/the course/build & all'
  build 'here & there/the course' 'a build & more'  # Ninja 1.11 builds all of this again each time; see compile_ptx.sh
  check 'a build & more' --suite steps --suite unit
}

place_readonly() {
  get course
  chmod -R a-w,a+rX course
  mkdir -p out/tmp
  chmod 755 .
  if [ "$(id -u)" = 0 ]; then
    chown 65534:65534 out out/tmp
    export HOME=$PWD/out CCACHE_DIR=$PWD/out/ccache TMPDIR=$PWD/out/tmp  # root's own may be closed to the user
    setpriv --reuid 65534 --regid 65534 --clear-groups "$BASH" course/tests/project/places.sh --readonly "$PWD"
  else
    readonly_here "$PWD"
  fi
  chmod -R u+w course
}

readonly_here() {  # FOLDER: it holds course and out
  cd "$1"
  if touch course/x 2>/dev/null; then
    echo "the source can be written"
    return 1
  fi
  build course out/build
  check out/build
}

place_install() {
  local steps tree=moved/opt/gemm
  get course
  build course course/build --prefix /opt/gemm --bindir programs/bin
  ninja -C course/build -j "$jobs" installed
  steps=$(course/build/ladder --list | wc -l)
  DESTDIR=$PWD/root meson install -C course/build --no-rebuild --quiet
  rm -rf course
  mv root moved
  climb "$tree/programs/bin/ladder" "$steps"
  "$tree/programs/bin/simt" inspect "$tree/share/gemm-steps/01_naive.ptx"
  for page in simt ladder; do
    MANWIDTH=80 man -l "$tree/share/man/man1/$page.1" | grep -e '--help'
  done
}

place_release() {
  get course
  meson setup build course
  meson dist -C build --no-tests
  rm -rf course
  tar xf build/meson-dist/*.tar.xz
  cd gemm-steps-*/
  build . build
  check build --suite unit
}

# --- all of them ---

if [ "${1:-}" = --readonly ]; then
  readonly_here "$2"
  exit
fi
all=(links names readonly install release)
[ $# -gt 0 ] || set -- "${all[@]}"
for place; do
  declare -F "place_$place" >/dev/null || { echo "places.sh: there is no place $place; there are ${all[*]}" >&2; exit 2; }
done
failed=0
for place; do
  folder=$(mktemp -d "${TMPDIR:-/tmp}/gemm-steps-$place-XXXXXX")
  SECONDS=0
  set +e  # the subshell's own holds: it is no part of a condition
  (set -e; cd "$folder"; "place_$place") >"$folder/log" 2>&1
  status=$?
  set -e
  if [ $status = 0 ]; then
    echo "ok      $place, $SECONDS s"
    rm -rf "$folder"
  else
    echo "FAILED  $place, $SECONDS s: $folder/log"
    failed=1
  fi
done
exit $failed
