#!/usr/bin/env bash
# Makes the documentation's static site in build/site/site.
#
# usage: scripts/site.sh        VENV=DIRECTORY: a Python environment; default:
#                               $VIRTUAL_ENV, else build/venv
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# != 0)); then
  print_usage
  [[ $1 == --help ]] && exit 0 || exit 2
fi
venv=${VENV:-${VIRTUAL_ENV:-build/venv}}
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/python" -c "import material" 2>/dev/null ||
  "$venv/bin/pip" install -q --disable-pip-version-check mkdocs-material==9.8.1
export NO_MKDOCS_2_WARNING=1
"$venv/bin/python" scripts/site.py build/site
