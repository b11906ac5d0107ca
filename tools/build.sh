#!/usr/bin/env bash
# Configures (with the options in $RAYTENTION_CONFIGURE) and builds into build/
# (or $RAYTENTION_BUILD). Prints the folder.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${RAYTENTION_BUILD:-$root/build}
"$root/tools/setup.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake -S "$root" -B "$build" -G Ninja ${RAYTENTION_CONFIGURE:-} >"$log" 2>&1; then
  cat "$log" >&2
  exit 3
fi
cmake --build "$build" "$@" >&2
echo "$build"
