#!/usr/bin/env bash
# Builds what is missing and runs RayTention on English plays: words as tokens,
# T = 2048, D = 256, checked against the float64 oracle, three positions
# explained in words.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$("$root/tools/build.sh" --target rt rt-opt)
"$build/bin/rt" run --text "$root/tests/data/plays.txt" --vocab word \
  --seq-len 2048 --d-model 256 --check \
  --explain 100 --explain 1000 --explain 2000
