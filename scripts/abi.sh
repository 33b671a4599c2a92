#!/usr/bin/env bash
# Compares the public headers with the ABI in packaging/abi/, and tells what
# changed. Needs abigail-tools.
#
# usage: scripts/abi.sh [--update]
#        --update: writes packaging/abi/ anew
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
update=OFF
case ${1:-} in
  "") ;;
  --update) update=ON ;;
  *)
    print_usage
    [[ $1 == --help ]] && exit 0 || exit 2
    ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -D WORK_DIR="$work" -D C_COMPILER="${CC:-cc}" -D UPDATE=$update \
  -P tests/install/abi.cmake
