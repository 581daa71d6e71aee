#!/bin/sh
# readme.sh SOURCE BUILD NVCC: the commands of README.md and of the pages that it leads to that no other test runs, word for
# word, in an empty folder: the reader's own kernel, a step beside its neighbour, tune, and the names of the drivers' options.
set -eu
source=$1 build=$2
case $3 in
*clang*) echo "these commands are for nvcc, and the kernels were compiled by clang"; exit 77 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$build" build
ln -s "$source/steps" steps
# nvcc is the one that compiled the kernels, even if the PATH has another one first.
mkdir bin
printf '#!/bin/sh\nPATH="%s" exec "%s" "$@"\n' "$PATH" "$3" >bin/nvcc
chmod +x bin/nvcc
PATH=$folder/bin:$PATH

pages="$source/README.md $source/steps/README.md $source/common/simt/README.md"

fail()
{
    echo "$pages: $*" >&2
    exit 1
}

# block WORDS LANGUAGE: the first block of this language behind the line that has the words
block()
{
    awk -v words="$1" -v begin="\`\`\`$2" 'index($0, words) { seen = 1 } inside && /^```$/ { exit } inside
        seen && $0 == begin { inside = 1 }' $pages | grep . || fail "no block of $2 behind '$1'"
}

# says WORDS COMMANDS: runs them; what they say has to have the words
says()
{
    sh -ec "$2" >said 2>&1 || { cat said; fail "this failed: $2"; }
    grep -qe "$1" said || { cat said; fail "this does not say '$1': $2"; }
}

own='`simt` is the simulated GPU for any PTX file'
block "$own" c >kernel.cu
says 'The checks found nothing wrong with saxpy' "$(block "$own" sh)"
for picture in saxpy time b; do
    grep -q '</svg>' $picture.svg || fail "no picture in $picture.svg"
done
says '^y, f32\[8\]: 1 3 5 7$' "$(block 'Several launches on the same memory' sh)"

neighbours=$(block 'Read a chapter, then look at its diff' sh)
says '^+.*PAD' "$(echo "$neighbours" | grep '^diff') || [ \$? = 1 ]"
says 'right' "$(echo "$neighbours" | grep '^build/')"

says '^ *16 *128 *right' "$(sed -n 's/.*`\(build\/tune [^`]*\)`.*/\1/p' "$source/steps/README.md")"

options=$(awk '/^Every driver takes the same options/ { inside = 1 } inside { print } inside && /explains them/ { exit }' \
    "$source/steps/README.md" | grep -oe '--[a-z0-9-]*' | sort -u)
[ "$(echo "$options" | wc -l)" -ge 20 ] || fail "it names only these options: $options"
build/01_naive --help >help
for option in $options; do
    grep -qe "$option\b" help || fail "the drivers do not have $option"
done
echo "The reader's own kernel, a diff, tune and $(echo "$options" | wc -l) options are as the pages have them"
