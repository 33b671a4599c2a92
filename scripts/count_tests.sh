#!/usr/bin/env bash
# Prints how many tests passed, failed and were skipped, as three numbers:
# GoogleTest and pytest cases one by one, other tests as one each.
#
# usage: scripts/count_tests.sh [--skipped] LOG     of ctest --verbose
#        --skipped: prints the skipped tests instead, each with its reason
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
if (($# == 0)) || [[ $1 == -* && $1 != --skipped ]]; then
  print_usage
  [[ ${1:-} == --help ]] && exit 0 || exit 2
fi
if [[ $1 == --skipped ]]; then
  awk '
    match($0, /^[0-9]+: /) {
      id = substr($0, 1, RLENGTH - 2) + 0
      rest = substr($0, RLENGTH + 1)
      if (asked[id]) { reason[id] = rest; asked[id] = 0 }
      else if (rest ~ /: Skipped$/) asked[id] = 1
      else if (rest ~ /^\[  SKIPPED \] .* \([0-9]+ ms\)$/) {
        split(rest, word, " ")
        print "skipped: " word[4] (reason[id] == "" ? "" : ": " reason[id])
        reason[id] = ""
      }
    }
    /Test +#[0-9]+: .*\*\*\*Skipped +[0-9.]+ sec$/ {
      sub(/^.*Test +#[0-9]+: /, ""); print "skipped: " $1
    }' "$2"
  exit
fi
awk '
  match($0, /^[0-9]+: /) {
    id = substr($0, 1, RLENGTH - 2) + 0
    rest = substr($0, RLENGTH + 1)
    if (rest ~ /^\[  PASSED  \] [0-9]+ test/) {
      split(rest, word, " "); passed[id] += word[4]; counted[id] = 1
    } else if (rest ~ /^\[  FAILED  \] [0-9]+ test.*listed below/) {
      split(rest, word, " "); failed[id] += word[4]; counted[id] = 1
    } else if (rest ~ /^\[  SKIPPED \] [0-9]+ test.*listed below/) {
      split(rest, word, " "); skipped += word[4]
    } else if (rest ~ /^[0-9]+ (passed|failed).* in [0-9.]+s/) {  # pytest
      counted[id] = 1
      count = split(rest, word, /[ ,]+/)
      for (i = 2; i <= count; ++i) {
        if (word[i] == "passed") passed[id] += word[i - 1]
        if (word[i] == "skipped") skipped += word[i - 1]
        if (word[i] == "failed" || word[i] ~ /^errors?$/) failed[id] += word[i - 1]
      }
    }
  }
  /Test +#[0-9]+: .*\*\*\*Skipped +[0-9.]+ sec$/ { ++skipped; next }
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    line = $0; sub(/^.*Test +#/, "", line); id = line + 0
    ok = ($0 ~ / Passed +[0-9.]+ sec$/)
    if (!counted[id]) { if (ok) passed[id] = 1; else failed[id] = 1 }
    else if (!ok && !failed[id]) failed[id] = 1
  }
  END {
    for (id in passed) p += passed[id]
    for (id in failed) f += failed[id]
    print p + 0, f + 0, skipped + 0
  }' "$1"
