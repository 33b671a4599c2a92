#!/usr/bin/env bash
# Installs what is missing, builds a release, runs a pipeline of three modules,
# and shows what Takt is for: a control policy beside a perception network,
# first come, first served and then with Takt (samples/contention.cpp). If MuJoCo
# is there (scripts/install_deps.sh --robot), a robot stands or falls
# (samples/balance).
#
# usage: scripts/demo.sh [SECONDS]    of each run; default: 5
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-5}
if ! [[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  print_usage
  [[ $1 == --help ]] && exit 0 || exit 2
fi
demo=build/demo
log=$demo/log
mkdir -p "$demo"

# step TEXT COMMAND...: runs the command, then says in a line what it did and how
# long it took. If it fails, the end of what it printed is shown.
step() {
  local text=$1 start=$EPOCHREALTIME
  shift
  if ! "$@" >"$log.step"; then
    tail -n 40 "$log.step" >&2
    echo "demo: this failed: $*" >&2
    exit 1
  fi
  awk -v text="$text" -v from="$start" -v to="$EPOCHREALTIME" \
    'BEGIN { printf "%s: %.1f s\n", text, to - from }'
}

# build DIRECTORY TARGET...: shows how much is built: on a terminal in one line
# that is updated, else in a line for each quarter.
build() {
  local directory=$1
  shift
  cmake --build "$directory" --target "$@" 2>&1 | tee "$log" |
    awk -v is_terminal="$([[ -t 2 ]] && echo 1 || echo 0)" '
      match($0, /^\[[0-9]+\/[0-9]+\]/) {
        split(substr($0, 2, RLENGTH - 2), n, "/")
        if (is_terminal) {
          printf "\rbuilding: %d of %d ", n[1], n[2]
        } else if (4 * n[1] >= (quarter + 1) * n[2] && n[2] > 20) {
          quarter = int(4 * n[1] / n[2])
          printf "building: %d of %d\n", n[1], n[2]
        }
        fflush()
      }
      END { if (is_terminal) printf "\r\033[K" }' >&2 || {
    tail -n 40 "$log" >&2
    return 1
  }
}

build_all() {
  cmake --preset release &&
    build build/release takt takt_tools takt-run-module &&
    cmake --install build/release --component takt --prefix "$demo/takt" &&
    cmake -S samples -B "$demo/samples" -G Ninja -D CMAKE_BUILD_TYPE=Release \
      -D CMAKE_PREFIX_PATH="$PWD/$demo/takt" &&
    build "$demo/samples" contention || return 1
  if cmake --build "$demo/samples" --target help | grep -q '^balance:'; then
    build "$demo/samples" balance
  fi
}

run_pipeline() {
  local data=tests/testdata/pipeline
  build/release/tools/takt-run-module --device=local-task \
    --module=$data/abs.vmfb --module=$data/mul.vmfb \
    --module=$data/pipeline.vmfb --function=run --input=4096xf32=-2.0 \
    --expected_output=4096xf32=-4.0
}

# The first two processors that this process may use.
two_processors() {
  local part parts
  IFS=, read -ra parts <<<"$(awk '/^Cpus_allowed_list:/ { print $2 }' \
    /proc/self/status)"
  for part in "${parts[@]}"; do seq "${part%-*}" "${part#*-}"; done |
    head -n 2 | paste -sd ,
}

step "installed what was missing" scripts/install_deps.sh
step "built the library and a sample" build_all
step "ran abs and mul of two modules from a third" run_pipeline
processors=$(two_processors)
cat <<END

A robot's estimator (every 2 ms) and policy (every 5 ms) share the processors
$processors with a perception network that never pauses. A job is late if it is not
done when the next one is due. $seconds s first come, first served, $seconds s with Takt:

END
taskset -c "$processors" "$demo/samples/contention" tests/testdata/workload \
  "$seconds" "$PWD/$demo"

robot=$demo/samples/balance/balance
[[ -x $robot ]] || exit 0
cat <<END

A simulated robot that falls if its policy is late, beside a detector that never
pauses, $seconds s first come, first served, with OS threads for each network, with Takt:

END
for way in first-come threads takt; do
  taskset -c "$processors" "$robot" "$way" samples/balance/models "$seconds" 1 \
    "$demo/$way.json" 2>"$log" | sed -n 1p
done
echo "samples/balance/run.sh measures it and makes a picture and a film."
