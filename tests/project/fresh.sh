#!/usr/bin/env bash
# The first commands of README.md and steps/SETUP.md on a machine that has nothing: a bare Debian 12 in a folder, entered by
# chroot, with a fresh clone of the last commit. The commands are the block of shell below "<!-- door: NAME -->".
#
#   tests/project/fresh.sh [--in FOLDER] [--mirror ADDRESS] [--cuda FOLDER] [--tests] [--keep] [debian | nvidia | clang | container]...
#   tests/project/fresh.sh --print DOOR
#
#   debian  Debian's own nvidia-cuda-toolkit
#   nvidia  NVIDIA's toolkit. It is not installed here: the one of this machine (--cuda, else /usr/local/cuda) is shown
#           to the bare Debian under /usr/local/cuda, where NVIDIA's installer puts it. It cannot be written to.
#   clang   no toolkit. Its first command may take 2 minutes and 700 MB, or the script fails.
#   container  not README's: what .devcontainer's Dockerfile runs, then its postCreateCommand, then the ladder. The bare
#           Debian gets its packages from a debian.sources, as Docker's image of it does. Only if it is named.
#
# --in FOLDER     where the bare Debians go; /var/tmp/fresh if not said. 10 GB have to be free for debian, else 2.
# --mirror        of Debian; where this machine gets its own packages if not said
# --tests         runs README's second command, the tests, too
# --keep          leaves the folders for a look; each log stays in any case
# --print DOOR    shows the commands of a door
#
# For every door it prints what was fetched, what the packages and the build take on disk, and the minutes. Run as root, on
# Debian or Ubuntu with debootstrap. Everything is mounted in a mount namespace of the script's own: it is gone however the
# script ends.
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/../.." && pwd)

die() {
    echo "fresh.sh: $*" >&2
    exit 1
}

# What the dev container of the tree $1 runs.
container() {
    grep -qx 'FROM debian:bookworm' "$1/.devcontainer/Dockerfile" || die "the dev container is no bare Debian 12"
    sed -n '/^RUN /,/[^\\]$/p' "$1/.devcontainer/Dockerfile" | sed 's/^RUN //'
    sed -n 's/.*"postCreateCommand": "\(.*\)".*/\1/p' "$1/.devcontainer/devcontainer.json" | grep . ||
        die "devcontainer.json has no postCreateCommand"
    echo build/ladder
}

# The shell block below the mark of door $1 in the tree $2.
door() {
    [ "$1" != container ] || { container "$2" && return; }
    awk -v mark="<!-- door: $1 -->" '$0 == mark { found = 1; next }
        found && /^```/ { if (open) exit; open = 1; next }
        open' "$2/README.md" "$2/steps/SETUP.md" | grep . || die "neither README.md nor steps/SETUP.md has commands below <!-- door: $1 -->"
}

# --- what is asked for ---
folder=/var/tmp/fresh mirror='' cuda=/usr/local/cuda tests='' keep='' doors=()
arguments=("$@")
while [ $# -gt 0 ]; do
    case $1 in
    --in | --mirror | --cuda | --print) [ $# -gt 1 ] || die "$1 needs a value" ;;&
    --in) folder=$2 && shift ;;
    --mirror) mirror=$2 && shift ;;
    --cuda) cuda=$2 && shift ;;
    --print) door "$2" "$source_tree" && exit ;;
    --tests) tests=yes ;;
    --keep) keep=yes ;;
    debian | nvidia | clang | container) doors+=("$1") ;;
    --help | -h) sed -n '2,/^set/ s/^# \{0,1\}//p' "$0" && exit ;;
    *) die "$1 is neither an option nor a door (debian, nvidia, clang, container)" ;;
    esac
    shift
done
[ ${#doors[@]} -gt 0 ] || doors=(debian nvidia clang)
[ "$(id -u)" = 0 ] || die "chroot needs root"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
[ "${FRESH_NAMESPACE:-}" ] || FRESH_NAMESPACE=yes exec unshare --mount --propagation private "$0" "${arguments[@]}"

# --- a bare Debian ---
# Packages come from where this machine gets its own.
host_sources() {
    if [ "$mirror" ]; then
        echo "deb $mirror bookworm main"
    else
        apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
            grep -E ' bookworm[a-z-]* main$' | sort -u
    fi
}

make_base() {
    local sources
    sources=$(host_sources) || true
    [ "$sources" ] || die "this machine does not use Debian 12's packages: name a mirror of Debian by --mirror"
    [ -e "$folder/base/made" ] && return
    rm -rf "$folder/base"
    echo "debootstrap: a bare Debian 12 in $folder/base"
    local proxy=''
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    http_proxy=${proxy:-${http_proxy:-}} debootstrap bookworm "$folder/base" \
        "$(echo "$sources" | sed -n 's/^deb \(.*\) bookworm main$/\1/p')" >"$folder/debootstrap.log" 2>&1 ||
        die "debootstrap failed: see $folder/debootstrap.log"
    echo "$sources" >"$folder/base/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$folder/base/etc/apt/apt.conf.d/90host" || true
    cp /etc/resolv.conf "$folder/base/etc/resolv.conf"
    rm -rf "$folder"/base/var/cache/apt/archives/*.deb "$folder"/base/var/lib/apt/lists/*
    touch "$folder/base/made"
}

# A bare machine in $1, with the tree in /root/course. $2: the door.
make_machine() {
    rm -rf --one-file-system "$1"
    cp -a --reflink=auto "$folder/base" "$1"
    git clone -q "file://$source_tree" "$1/root/course"
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm"
    mount -t devpts devpts "$1/dev/pts"
    if [ "$2" = container ]; then
        sed 's/^deb \([^ ]*\) \([^ ]*\) main$/Types: deb\nURIs: \1\nSuites: \2\nComponents: main\nSigned-By: \/usr\/share\/keyrings\/debian-archive-keyring.gpg\n/' \
            "$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/debian.sources"
        rm "$1/etc/apt/sources.list"
    fi
    if [ "$2" = nvidia ]; then
        [ -x "$cuda/bin/nvcc" ] || die "no $cuda/bin/nvcc: say by --cuda where NVIDIA's toolkit is"
        mkdir -p "$1/usr/local/cuda"
        mount --bind "$(realpath "$cuda")" "$1/usr/local/cuda"
        mount -o remount,bind,ro "$1/usr/local/cuda"
        echo "nvidia: the toolkit of this machine, $(realpath "$cuda"), is shown read-only: nothing of it was fetched, and it takes no disk"
    fi
}

# Runs commands in the machine as root who just logged in: nothing of this shell's environment goes along.
inside() {
    printf '%s\n' "$2" >"$1/root/commands"
    chroot "$1" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -c 'cd /root/course && exec bash -e /root/commands' </dev/null
}

# Seconds that the command took, and seconds of processor: "61 40".
timed() {
    local TIMEFORMAT='%R %U %S'
    { time "$@" >>"$log" 2>&1; } 2>&1
}

# On disk, without the lists and caches of apt: a Debian that is in use has them already.
megabytes() { du -smx --exclude="$1/var/lib/apt" --exclude="$1/var/cache/apt" "$1" | cut -f1; }

# --- the doors ---
try_door() {
    local machine=$folder/$1 log=$folder/$1.log seconds before fetched disk
    local -r most_seconds=120 most_megabytes=700
    make_machine "$machine" "$1"
    : >"$log"
    before=$(megabytes "$machine")
    seconds=$(timed inside "$machine" "$(door "$1" "$machine/root/course")") || { tail -20 "$log" && die "$1: README's first command failed: see $log"; }
    disk=$(($(megabytes "$machine") - before))
    # apt says "Fetched 6976 kB in 3s" once for the lists and once for the packages.
    fetched=$(sed -n 's/^Fetched \([0-9.,]*\) \([kMG]\)B in .*/\1 \2/p' "$log" | tr -d , |
        awk '{ mb += $1 * ($2 == "G" ? 1000 : $2 == "M" ? 1 : 0.001) } END { printf "%.0f", mb }')
    echo "$seconds $fetched $disk" | awk -v door="$1" '{ printf "%s: first command %.1f minutes (%.1f of a processor), %d MB fetched, %d MB on disk\n",
        door, $1 / 60, ($2 + $3) / 60, $4, $5 }'
    grep -E '^(Kernels:|[0-9][0-9]_)' "$log"
    local wrong
    wrong=$(grep -cE '^[0-9][0-9]_.*(WRONG|FAILED)' "$log" || true)
    [ "$wrong" = 0 ] || die "$1: $wrong steps of the ladder are wrong"
    if [ "$1" = clang ]; then
        [ "$disk" -le $most_megabytes ] || die "clang: $disk MB on disk, more than $most_megabytes"
        [ "${seconds%%.*}" -lt $most_seconds ] || die "clang: ${seconds%% *} seconds, more than $most_seconds"
    fi
}

try_tests() {
    local machine=$folder/$1 log=$folder/$1_tests.log seconds status=0
    : >"$log"
    seconds=$(timed inside "$machine" "$(door tests "$machine/root/course")") || status=$?
    echo "$1: tests $(awk '{ printf "%.1f", $1 / 60 }' <<<"$seconds") minutes:" \
        $(grep -E '^(Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Timeout): ' "$log" | tr -s ' ')
    grep -E ' (FAIL|ERROR|TIMEOUT) ' "$log" || true
    [ "$status" = 0 ] || die "$1: README's second command failed: see $log"
    # Without /proc Criterion finds no test; a program that ran none must not pass.
    umount "$machine/proc"
    if inside "$machine" 'build/tests/test_json' >"$folder/no_proc.log" 2>&1; then
        die "$1: without /proc no test was found, and the test program passed"
    fi
    grep -q 'finds no test' "$folder/no_proc.log" || die "$1: without /proc: $(cat "$folder/no_proc.log")"
}

mkdir -p "$folder"
make_base
for name in "${doors[@]}"; do
    try_door "$name"
    if [ "$tests" ]; then try_tests "$name"; fi
    for place in dev/shm dev/pts proc usr/local/cuda; do
        ! mountpoint -q "$folder/$name/$place" || umount "$folder/$name/$place"
    done
    [ "$keep" ] || rm -rf --one-file-system "${folder:?}/$name"
done
