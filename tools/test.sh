#!/usr/bin/env bash
# Builds and runs all tests; the last line counts them.
#   --full   also the long tests, and the PTX device under the sanitizers (an
#            hour more)
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
# The lit tests run by themselves below, so that each file counts as one.
leave_out='^lit$|^Sizes/Long|^Long/'
case "${1:-}" in
  --full)
    leave_out='^lit$'
    export RAYTENTION_CONFIGURE=-DRAYTENTION_SANITIZED_TESTS=ON
    ;;
  "") ;;
  *) echo "test.sh: expected --full or nothing, got '$1'" >&2; exit 2 ;;
esac
build=$("$root/tools/build.sh")
unit=$(mktemp) lit=$(mktemp)
trap 'rm -f "$unit" "$lit"' EXIT

ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -E "$leave_out" 2>&1 |
  tee "$unit" | grep -vE '^ *(Start +[0-9]|[0-9]+/[0-9]+ Test .*Passed)' || true
# One line for all drawn runs, from those of the shards.
awk '/^fuzz: / { for (i = 2; i <= NF; i += 2) { sum[i] += $i; word[i] = $(i + 1) } }
     END { if (2 in sum) { line = "fuzz:"; for (i = 2; i in sum; i += 2) line = line " " sum[i] " " word[i]; print line } }' \
  "$build/Testing/Temporary/LastTest.log" || true
lit_tool=$(command -v lit || echo /usr/lib/llvm-22/bin/lit)
"$lit_tool" -v --time-tests "$build/tests" 2>&1 | tee "$lit" |
  grep -vE '^(PASS|UNSUPPORTED):' || true

count() { sed -nE "s/^ *$1 *: *([0-9]+).*/\1/p" "$lit" | head -1; }
total=$(sed -nE 's/.* tests failed out of ([0-9]+).*/\1/p' "$unit")
unit_failed=$(sed -nE 's/.* ([0-9]+) tests failed out of .*/\1/p' "$unit")
unit_skipped=$(grep -cE '\*\*\*Skipped' "$unit" || true)
if [ -z "$total" ]; then
  echo "test.sh: ctest did not run to its end" >&2
  total=1 unit_failed=1
fi
lit_passed=$(count Passed) lit_failed=$(count Failed) lit_skipped=$(count Unsupported)
unresolved=$(count Unresolved)
if [ -z "$lit_passed$lit_failed" ]; then
  echo "test.sh: lit did not run to its end" >&2
  lit_failed=1
fi
failed=$((unit_failed + ${lit_failed:-0} + ${unresolved:-0}))
skipped=$((unit_skipped + ${lit_skipped:-0}))
passed=$((total - unit_failed - unit_skipped + ${lit_passed:-0}))
grep -E '\*\*\*Skipped|^UNSUPPORTED:' "$unit" "$lit" -h || true
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
