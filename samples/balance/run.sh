#!/usr/bin/env bash
# Measures a robot: each way three times, in turns. Then it draws picture.svg and
# film.gif and writes the numbers into README.md of the robot's folder, those of
# the cart also at the top of the repository. About four minutes.
#
# usage: samples/balance/run.sh [SECONDS [RUNS [ROBOT]]]
#        SECONDS, RUNS    of each way; default: 15, 3
#        ROBOT            cart (default) or two_wheeled
#        VENV=DIRECTORY   the Python environment with mujoco and pillow;
#                         default: $VIRTUAL_ENV, else build/venv
#        BALANCE=FILE     the program; default: it is built from build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-15}
runs=${2:-3}
robot=${3:-cart}
venv=${VENV:-${VIRTUAL_ENV:-build/venv}}
out=build/balance
program=${BALANCE:-$out/samples/balance/balance}
case $robot in
  cart) models=samples/balance/models records=$out ;;
  two_wheeled) models=samples/balance/two_wheeled/models records=$out/two_wheeled ;;
  *) echo "run.sh: ROBOT is cart or two_wheeled, not $robot" >&2 && exit 1 ;;
esac

"$venv/bin/python" -c "import mujoco, PIL" || {
  echo "run.sh: $venv has no mujoco or no pillow: scripts/install_deps.sh --robot" >&2
  exit 1
}
mkdir -p "$records"
if [[ -z ${BALANCE:-} ]]; then
  {
    cmake --install build/release --component takt --prefix "$out/takt"
    cmake -S samples -B "$out/samples" -G Ninja -D CMAKE_BUILD_TYPE=Release \
      -D CMAKE_PREFIX_PATH="$PWD/$out/takt" \
      -D TAKT_MUJOCO_DIR="$(echo "$venv"/lib/python3*/site-packages/mujoco)"
    cmake --build "$out/samples" --target balance
  } >"$out/build.log" || {
    tail -n 40 "$out/build.log" >&2
    exit 1
  }
fi

rm -f "$records"/*.json
for ((run = 1; run <= runs; ++run)); do
  for way in first-come threads threads-fifo takt; do
    "$program" "$way" "$models" "$seconds" "$run" \
      "$records/$way.$run.json" 2>"$records/$way.$run.log" || {
      cat "$records/$way.$run.log" >&2
      exit 1
    }
  done
done
"$venv/bin/python" samples/balance/picture.py "$records" "$robot"
