#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, if it is missing.
#
# usage: scripts/install_deps.sh [--browser]    --browser: chromium as well,
#        for the test of the trace page (30 s)
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config
  libabsl-dev libgtest-dev libgmock-dev libbenchmark-dev libflatbuffers-dev
  flatbuffers-compiler libhwloc-dev nlohmann-json3-dev libprotozero-dev doxygen
)

[[ ${1:-} == --browser ]] && packages+=(chromium)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

sudo=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "install_deps: run as root, or install sudo: needs ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" \
  >/dev/null
