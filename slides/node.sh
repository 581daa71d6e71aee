#!/bin/sh
# node.sh STATUS SCRIPT [ARGUMENT]...: runs one of the scripts here with Node. Without Node it says so, and exits with
# STATUS: 77 skips a test.
status=$1 script=$2
shift 2
if ! command -v node >/dev/null; then
    echo "slides: Node is not on the PATH; the decks need 18 or newer: apt-get install nodejs npm, or nodejs.org"
    exit "$status"
fi
exec node "$(dirname "$0")/$script" "$@"
