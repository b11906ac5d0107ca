#!/usr/bin/env bash
# Builds and runs all tests; the last line counts them.
#   --full   also the long tests (hours of checks at large sizes excluded)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
[ "${1:-}" = "--full" ] && export RAYTENTION_FULL_TESTS=1
build=$("$root/tools/build.sh")
status=0
unit=$(mktemp) lit=$(mktemp)
trap 'rm -f "$unit" "$lit"' EXIT

ctest --test-dir "$build" --output-on-failure -j "$(nproc)" 2>&1 |
  tee "$unit" | grep -vE '^ *(Start|[0-9]+/[0-9]+ Test .* Passed)' || true
python3 /usr/lib/llvm-22/build/utils/lit/lit.py -q --time-tests=0 \
  "$build/tests" >"$lit" 2>&1 || true
