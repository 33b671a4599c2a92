#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, if it is missing.
#
# usage: scripts/install_deps.sh [--browser] [--wheel] [--python] [--robot]
#                                [--openvino] [--fuzz] [--releases]
#        --browser: chromium as well, for the test of the trace page (30 s)
#        --fuzz: clang with libFuzzer, for scripts/fuzz.sh
#        --wheel: Python with headers, for `pip install .`
#        --python: the same, and in build/venv what the Python package
#        and its tests need of PyPI
#        --robot: MuJoCo in build/venv and OSMesa, for samples/balance
#        --openvino: OpenVINO in build/venv, for drivers/openvino
#        --releases: compilers and runtimes of older releases in
#        build/releases, for tests/testdata/regenerate.py
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"

packages=(
  g++ cmake ninja-build ccache pkg-config
  libabsl-dev libgtest-dev libgmock-dev libbenchmark-dev libflatbuffers-dev
  flatbuffers-compiler libhwloc-dev nlohmann-json3-dev libprotozero-dev relacy-dev
  doxygen abigail-tools
)

python=
robot=
openvino=
releases=()
for argument in "$@"; do
  case $argument in
    --browser) packages+=(chromium) ;;
    --fuzz) packages+=(clang) ;;
    --wheel) packages+=(python3-dev python3-venv) ;;
    --python)
      packages+=(python3-dev python3-venv)
      python=1
      ;;
    --robot)
      packages+=(libosmesa6-dev python3-venv)
      robot=1
      ;;
    --openvino)
      packages+=(python3-venv)
      openvino=1
      ;;
    --releases)
      packages+=(python3-venv)
      releases=(3.8.0 3.9.0 3.10.0 3.11.0)
      ;;
    *)
      print_usage
      [[ $argument == --help ]] && exit 0 || exit 2
      ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
# Quiet and quick where all of it is there.
install_python() {
  local venv release wanted=()
  for release in "${releases[@]}"; do
    venv=$(dirname "${BASH_SOURCE[0]}")/../build/releases/iree-$release
    [[ ! -x $venv/bin/iree-run-module ]] || continue
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 \
      --timeout 20 "iree-base-compiler==$release" "iree-base-runtime==$release"
  done
  [[ -z $python ]] || wanted+=("nanobind>=2.5" numpy pytest pytest-asyncio
    onnxruntime "iree-base-compiler[onnx]==3.13.0")
  [[ -z $robot ]] || wanted+=(mujoco==3.13.0 numpy pillow)
  [[ -z $openvino ]] || wanted+=(openvino==2026.4.0 onnx)
  ((${#wanted[@]})) || return 0
  venv=$(dirname "${BASH_SOURCE[0]}")/../build/venv
  [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check --retries 1 \
    --timeout 20 "${wanted[@]}"
}
if ((${#missing[@]} == 0)); then
  install_python
  exit 0
fi

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
install_python
