#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
#
# usage: scripts/test.sh [--preset=release|debug|checks|asan|tsan] [--python]
#                        [CTEST_ARGUMENT...]
#        --python: the Python package as well, with what it needs of PyPI in
#        build/venv
#
# The last line is "N passed, N failed": GoogleTest cases one by one, other
# tests as one each. Exits with 1 if any failed, or none ran.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
python=()
arguments=()
for argument in "$@"; do
  case $argument in
    --preset=*) preset=${argument#--preset=} ;;
    --python) python=(--python) ;;
    --help)
      print_usage
      exit 0
      ;;
    *) arguments+=("$argument") ;;
  esac
done

scripts/install_deps.sh "${python[@]}"
configure=()
if ((${#python[@]})); then
  configure=(-D TAKT_BUILD_PYTHON=ON -D Python_ROOT_DIR="$PWD/build/venv"
             -D Python_FIND_VIRTUALENV=ONLY)
  export VIRTUAL_ENV=$PWD/build/venv
fi
cmake --preset "$preset" "${configure[@]}" >/dev/null
cmake --build --preset "$preset"

log=build/$preset/test.log
result=0
ctest --preset "$preset" -j "$(nproc)" --verbose "${arguments[@]}" \
  >"$log" 2>&1 || result=$?
grep -E '^ *[0-9]+/[0-9]+ Test' "$log" || true
if ((result != 0)); then
  # GoogleTest, the sanitizers, and pytest, whose summary is a line each.
  grep -E -A 12 ': Failure$|\[  FAILED  \]|ERROR: |runtime error' "$log" |
    head -n 200 || true
  grep -E '^[0-9]+: (E   |FAILED |ERROR )' "$log" | head -n 100 || true
fi

counts=$(scripts/count_tests.sh "$log")
read -r passed failed _ <<<"$counts"
scripts/count_tests.sh --skipped "$log"
((passed + failed > 0)) || result=1
((failed == 0)) || result=1
echo "$passed passed, $failed failed"
exit $((result != 0))
