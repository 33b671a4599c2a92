#!/usr/bin/env bash
# Compares the public headers with the ABI in packaging/abi/, and tells what
# changed. Needs abigail-tools.
#
# usage: scripts/abi.sh [--update]
#        --update: writes packaging/abi/ anew
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
update=OFF
case ${1:-} in
  "") ;;
  --update) update=ON ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '/^set/d'
    [[ $1 == --help ]] && exit 0 || exit 2
    ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -D WORK_DIR="$work" -D C_COMPILER="${CC:-cc}" -D UPDATE=$update \
  -P tests/install/abi.cmake
