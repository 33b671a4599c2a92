#!/usr/bin/env bash
# Builds Takt for another architecture, and runs its tests under qemu.
#
# usage: scripts/cross.sh aarch64|riscv64 [--cpus[=CPU[:CPU...]]]
#                         [--stress=SECONDS] [--targets=TARGET[,TARGET...]]
#                         [--build=DIRECTORY] [--no-install] [CTEST_ARGUMENT...]
#        --cpus=: processors that qemu-user emulates, one run of the tests for
#        each (default: all features that gcc compiles for: max, or rv64 without
#        V). Commas within a name switch features:
#        --cpus=cortex-a53:max,sve=off
#        --cpus: the kernels' tests alone, on each processor of cross_cpus.sh
#        --stress: the tests of threads alone (cross_stress.sh), again and
#        again for this time
#        --targets: the tests that are built and run (default: everything)
#        --build: the build tree (default: build/ARCHITECTURE)
#        --no-install: the compiler, qemu and the libraries are there
#
# Debian 12, as root or with sudo for what is missing. The libraries of the
# architecture are unpacked in build/sysroot/ARCHITECTURE (TAKT_SYSROOT names
# another place), and no package of a foreign architecture is installed. Debian 12 has no packages for
# riscv64: the libraries are built from its source packages there, and hwloc,
# which Takt opens when it is there, is left out. The fixtures are compiled for
# the architecture in build/testdata by the compiler of build/venv, and those of
# older releases by the compilers of build/releases
# (tests/testdata/regenerate.py).
#
# For each processor the last line is "CPU: N passed, N failed, N skipped":
# GoogleTest cases one by one, other tests as one each. The reasons come before.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

architecture=
cpus=
is_for_each_cpu=
stress_seconds=
targets=()
build=
install=1
arguments=()
for argument in "$@"; do
  case $argument in
    --help) print_usage; exit 0 ;;
    --cpus) is_for_each_cpu=1 ;;
    --stress=*) stress_seconds=${argument#--stress=} ;;
    --cpus=*) cpus=${argument#--cpus=} ;;
    --targets=*) IFS=, read -r -a targets <<<"${argument#--targets=}" ;;
    --build=*) build=${argument#--build=} ;;
    --no-install) install= ;;
    aarch64 | riscv64) architecture=$argument ;;
    *) arguments+=("$argument") ;;
  esac
done
[[ -n $architecture ]] || { print_usage >&2; exit 2; }
: "${build:=build/$architecture}"
if [[ -z $cpus ]]; then  # qemu's "max" is no processor of riscv64.
  [[ $architecture == riscv64 ]] && cpus=rv64 || cpus=max
fi
triple=$architecture-linux-gnu
sysroot=$(realpath -m "${TAKT_SYSROOT:-build/sysroot/$architecture}")
export TAKT_SYSROOT=$sysroot
apt_home=$sysroot/.apt
. scripts/debian_source.sh
. scripts/cross_cpus.sh
. scripts/cross_stress.sh

install_tools() {
  # The kernels' tests use no compiled modules.
  if [[ -n $is_for_each_cpu ]]; then
    scripts/install_deps.sh
  else
    scripts/install_deps.sh --python --releases
  fi
  local missing=() package status sudo=()
  local packages=("g++-$triple" qemu-user dpkg-dev)
  [[ $architecture$is_for_each_cpu == riscv641 ]] && packages+=(clang-16)
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [[ $status == "install ok installed" ]] || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  ((EUID == 0)) || sudo=(sudo)
  echo "installing ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" >/dev/null
}

# Lets Linux start programs of the architecture by qemu: tests start themselves
# and other programs. Without the right to, these tests fail.
register_qemu() {
  local directory=/proc/sys/fs/binfmt_misc machine sudo=()
  ((EUID == 0)) || sudo=(sudo)
  [[ $architecture == aarch64 ]] && machine='\xb7' || machine='\xf3'
  [[ -e $directory/register ]] ||
    "${sudo[@]}" mount -t binfmt_misc binfmt_misc "$directory" || return 0
  [[ -e $directory/qemu-$architecture ]] && return
  # ELF, 64 bits, little endian; a program or a shared library.
  local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'
  local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff'
  printf '%s' ":qemu-$architecture:M::$magic$machine\x00:$mask\xff\xff:$(command -v "qemu-$architecture"):" |
    "${sudo[@]}" tee "$directory/register" >/dev/null || true
}

# apt with a state of its own, for packages of arm64 that are unpacked and never
# installed.
foreign_apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
    -o Dir::State="$sysroot/.apt" -o Dir::State::status="$sysroot/.apt/status" \
    -o Dir::Cache="$sysroot/.apt/cache" -o APT::Sandbox::User=root "$@"
}

# The packages, but no C or C++ library: those are the compiler's.
unpack_packages() {
  mkdir -p "$sysroot/.apt/lists/partial" \
    "$sysroot/.apt/cache/archives/partial" "$sysroot/.apt/packages"
  : >"$sysroot/.apt/status"
  foreign_apt update
  (cd "$sysroot/.apt/packages" && foreign_apt download libabsl-dev \
    libabsl20220623 libflatbuffers-dev libflatbuffers2 \
    flatbuffers-compiler flatbuffers-compiler-dev libgtest-dev libgmock-dev \
    libbenchmark-dev libbenchmark1debian libhwloc-dev libhwloc15 libudev1 \
    nlohmann-json3-dev libprotozero-dev)
  local package
  for package in "$sysroot"/.apt/packages/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
  done
}

# build_source PACKAGE CMAKE_ARGUMENT...: fetches Debian's source package,
# builds it for the architecture and installs it below the sysroot.
build_source() {
  local package=$1 work=$sysroot/.source
  shift
  fetch_source "$package" "$work"
  cmake -G Ninja -S "$work/$package" -B "$work/$package-build" \
    -D CMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/$architecture.cmake" \
    -D TAKT_SYSROOT="$sysroot" -D CMAKE_BUILD_TYPE=Release \
    -D CMAKE_INSTALL_PREFIX=/usr -D CMAKE_INSTALL_LIBDIR="lib/$triple" \
    -D CMAKE_POSITION_INDEPENDENT_CODE=ON "$@" >/dev/null
  cmake --build "$work/$package-build"
  DESTDIR=$sysroot cmake --install "$work/$package-build" >/dev/null
}

# Header-only libraries are the same for all architectures; the other ones are
# built.
build_packages() {
  mkdir -p "$sysroot/.source"
  prepare_own_apt
  (cd "$sysroot/.source" && own_apt download nlohmann-json3-dev \
    libprotozero-dev libhwloc-dev)
  local package
  for package in "$sysroot"/.source/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
  done
  # Of hwloc only the headers: its library is opened when Takt runs. What they
  # say of the machine is the same for all of 64 bits.
  cp -r "$sysroot/usr/include/x86_64-linux-gnu/." "$sysroot/usr/include/"
  rm -rf "$sysroot/usr/lib/x86_64-linux-gnu"
  build_source abseil -D CMAKE_CXX_STANDARD=17 -D BUILD_SHARED_LIBS=OFF
  build_source flatbuffers -D FLATBUFFERS_BUILD_TESTS=OFF \
    -D FLATBUFFERS_BUILD_FLATC=OFF -D FLATBUFFERS_BUILD_FLATHASH=OFF
  build_source googletest
  build_source benchmark -D BENCHMARK_ENABLE_TESTING=OFF -D GIT_VERSION=0.0.0
}

# The fixtures with code for the architecture: those of the repository are for
# x86_64. Without the compiler, tests that run compiled code fail.
compile_fixtures() {
  local regenerate=tests/testdata/regenerate.py releases=()
  testdata=$PWD/build/testdata/$architecture
  if [[ ! -x build/venv/bin/iree-compile ]]; then
    echo "no build/venv (scripts/install_deps.sh --python): fixtures for x86_64"
    testdata=$PWD/tests/testdata
    return
  fi
  [[ ! -d build/releases ]] || releases=(--releases build/releases)
  # Made again when a fixture of the repository has changed, or when there are
  # compilers of older releases now.
  local sum
  sum=$(git ls-files -z tests/testdata | xargs -0 sha256sum | sha256sum)
  sum+=${releases[*]}
  [[ $(cat "$testdata.sum" 2>/dev/null) == "$sum" ]] && return
  rm -rf "$testdata"
  PATH=$PWD/build/venv/bin:$PATH python3 "$regenerate" \
    --target "$architecture" --out "$testdata" "${releases[@]}"
  echo "$sum" >"$testdata.sum"
}

if [[ -n $install ]]; then
  install_tools
  register_qemu
  if [[ ! -e $sysroot/.complete ]]; then
    if [[ $architecture == aarch64 ]]; then unpack_packages; else build_packages; fi
    touch "$sysroot/.complete"
  fi
fi

if [[ -n $is_for_each_cpu ]]; then
  run_on_each_cpu
  exit
fi
compile_fixtures
cmake --preset "$architecture" -B "$build" \
  -D TAKT_SYSROOT="$sysroot" -D TAKT_TESTDATA_DIR="$testdata" >/dev/null
[[ -z $stress_seconds ]] || targets=("${stress_targets[@]}")
cmake --build "$build" ${targets:+--target "${targets[@]}"}

if ((${#targets[@]})); then
  arguments+=(-R "^($(IFS='|'; echo "${targets[*]}"))$")
fi

# For programs that tests start; CMake's emulator has its own.
export QEMU_LD_PREFIX=/usr/$triple
export QEMU_SET_ENV=LD_LIBRARY_PATH=$sysroot/usr/lib/$triple
# Calls that api_hot_path_test counts; to wake a thread takes long under qemu.
# So does loading the library, which api_unload_test repeats.
export TAKT_HOT_PATH_COUNT=500 TAKT_UNLOAD_ROUNDS=3
# Tests leave out what an emulator does for reasons of its own: it faults pages
# in, needs more time and memory, and may end where a thread does not start.
export TAKT_EMULATED=1
if [[ -n $stress_seconds ]]; then
  run_stress
  exit
fi
result=0
IFS=: read -r -a cpu_list <<<"$cpus"
for cpu in "${cpu_list[@]}"; do
  log=$build/test-$cpu.log
  QEMU_CPU=$cpu ctest --test-dir "$build" --timeout 3600 --verbose \
    -j "$(nproc)" "${arguments[@]}" >"$log" 2>&1 || true
  counts=$(scripts/count_tests.sh "$log")
  read -r passed failed skipped <<<"$counts"
  ((passed > 0 && failed == 0)) || {
    result=1
    grep -E -A 12 'Failure$|\[  FAILED  \]|\*\*\*' "$log" | head -n 200 || true
  }
  scripts/count_tests.sh --skipped "$log"
  echo "$cpu: $passed passed, $failed failed, $skipped skipped"
done
exit $result
