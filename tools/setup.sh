#!/usr/bin/env bash
# Installs what the build needs where it is missing (Debian packages; needs
# root or sudo). Safe to run again: does nothing when all is there.
set -euo pipefail

packages=(g++ cmake ninja-build ccache lld libgtest-dev libeigen3-dev
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
    grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: expected apt-get to install ${missing[*]}; install them by hand" >&2
  exit 3
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
