#!/usr/bin/env bash
# Installs what is missing, builds a release, and runs the main job on
# checked-in modules: a pipeline of three modules that call each other, and
# the robot's perception network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# step TEXT COMMAND...: runs the command, then says what it did in a line.
step() {
  local text=$1 start end
  shift
  start=$(date +%s%N)
  "$@"
  end=$(date +%s%N)
  printf '== %s: %d.%03d s\n' "$text" $(((end - start) / 1000000000)) \
    $(((end - start) / 1000000 % 1000))
}

build() {
  cmake --preset release >/dev/null
  cmake --build --preset release --target takt-run-module
}

run=build/release/tools/takt-run-module
data=tests/testdata
step "installed what was missing" scripts/install_deps.sh
step "built a release" build
step "ran abs and the in-place mul of two modules from a third" \
  "$run" --device=local-task \
  --module=$data/pipeline/abs.vmfb --module=$data/pipeline/mul.vmfb \
  --module=$data/pipeline/pipeline.vmfb --function=run --input=4096xf32=-2.0
step "ran the perception network on a 192x192 image" \
  "$run" --device=local-task --module=$data/workload/perception.cpu.vmfb \
  --function=detect --input=1x192x192x3xf32=0.5
