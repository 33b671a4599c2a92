#!/usr/bin/env bash
# Builds the libFuzzer targets of tests/fuzz with clang, AddressSanitizer and
# UndefinedBehaviorSanitizer, and runs each.
#
# usage: scripts/fuzz.sh [--seconds=20] [--jobs=N] [--build_only] [NAME...]
#        NAME: a target, such as module; without one, all are built and run
#
# New inputs go to build/fuzz/corpus/NAME, findings to build/fuzz/findings.
# Exits with 1 if a target finds something.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=20
jobs=$(nproc)
build_only=0
names=()
for argument in "$@"; do
  case $argument in
    --seconds=*) seconds=${argument#--seconds=} ;;
    --jobs=*) jobs=${argument#--jobs=} ;;
    --build_only) build_only=1 ;;
    --help)
      print_usage
      exit 0
      ;;
    -*)
      echo "fuzz.sh: unknown flag $argument" >&2
      exit 2
      ;;
    *) names+=("$argument") ;;
  esac
done
if ((${#names[@]} == 0)); then
  for source in tests/fuzz/*_fuzzer.cc; do
    names+=("$(basename "$source" _fuzzer.cc)")
  done
fi

build=build/fuzz
cmake -S . -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=RelWithDebInfo \
  -D CMAKE_C_COMPILER=clang -D CMAKE_CXX_COMPILER=clang++ \
  -D CMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -D CMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -D TAKT_WERROR=ON -D TAKT_BUILD_FUZZERS=ON -D TAKT_BUILD_BENCHMARKS=OFF \
  >/dev/null
cmake --build "$build" -j "$jobs" -- "${names[@]/%/_fuzzer}"
((build_only == 0)) || exit 0

mkdir -p "$build/findings"
result=0
for name in "${names[@]}"; do
  mkdir -p "$build/corpus/$name"
  log=$build/findings/$name.log
  # An input may take 10 s and 2 GB, the limits of a hang and of a flood.
  if "$build/tests/fuzz/${name}_fuzzer" -max_total_time="$seconds" \
    -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" \
    "$build/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 || true)
    echo "$name: ${runs:-0} runs, ${edges:-no coverage}"
  else
    result=1
    echo "$name: a finding:"
    tail -n 40 "$log"
  fi
done
exit $result
