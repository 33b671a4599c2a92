#!/usr/bin/env bash
# Builds a small libtakt with Abseil inside, and tells its size.
#
# usage: scripts/small.sh [--build=DIRECTORY] [--static] [CMAKE_ARGUMENT...]
#        --build: the build tree (default: build/small)
#        --static: libtakt.a without all parts that are options, and a program
#        on it that runs one model; tells the size of the program
#
# Debian's archives of Abseil are not position-independent, so Abseil is built
# from Debian's source package, once, in build/small-abseil. CMake arguments are
# options such as -DTAKT_NPU=OFF.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/small
static=
arguments=()
for argument in "$@"; do
  case $argument in
    --help) print_usage; exit 0 ;;
    --build=*) build=${argument#--build=} ;;
    --static) static=1 ;;
    *) arguments+=("$argument") ;;
  esac
done

abseil=$PWD/build/small-abseil
flags="-ffunction-sections -fdata-sections -fvisibility=hidden"
flags+=" -fvisibility-inlines-hidden -fno-exceptions"
flags+=" -fno-asynchronous-unwind-tables -fno-unwind-tables"
flags+=" -isystem $abseil/include"  # See cmake/include/iostream.
if [[ ! -e $abseil/.complete ]]; then
  apt_home=$abseil/apt
  . scripts/debian_source.sh
  mkdir -p "$abseil/include"
  printf '#include <istream>\n#include <ostream>\nnamespace std { %s }\n' \
    "extern istream cin; extern ostream cout, cerr, clog;" \
    >"$abseil/include/iostream"
  prepare_own_apt
  fetch_source abseil "$abseil"
  cmake -G Ninja -S "$abseil/abseil" -B "$abseil/build" \
    -D CMAKE_BUILD_TYPE=MinSizeRel -D CMAKE_POSITION_INDEPENDENT_CODE=ON \
    -D CMAKE_CXX_STANDARD=17 -D BUILD_SHARED_LIBS=OFF \
    -D CMAKE_INSTALL_PREFIX="$abseil/prefix" -D CMAKE_CXX_FLAGS="$flags" >/dev/null
  cmake --build "$abseil/build" --target install >/dev/null
  touch "$abseil/.complete"
fi

[[ -z $static ]] || for part in SCHEDULER PLANNER NPU VMVX NATIVE_KERNELS AVX512 \
  TRACING IO_PARAMETERS HWLOC; do
  arguments+=("-DTAKT_$part=OFF")
done
[[ -z $static ]] || arguments+=(-DTAKT_BUILD_SHARED=OFF -DTAKT_BUILD_TOOLS=OFF)
cmake --preset small -B "$build" -D TAKT_WERROR=OFF \
  -D CMAKE_PREFIX_PATH="$abseil/prefix" \
  "${arguments[@]}" >/dev/null
cmake --build "$build" --target takt
if [[ -n $static ]]; then
  output=$build/static_call
  # The C++ library without what throws, catches and unwinds: there is no code
  # for exceptions in the rest of the program.
  libraries=$build/no_exceptions
  mkdir -p "$libraries"
  cc -c -Os cmake/no_exceptions.c -o "$libraries/no_exceptions.o"
  for library in libstdc++.a libgcc_eh.a libgcc.a; do
    objcopy -R .eh_frame -R '.gcc_except_table*' \
      "$(c++ -print-file-name=$library)" "$libraries/$library"
  done
  ar d "$libraries/libstdc++.a" eh_{alloc,aux_runtime,call,catch,globals}.o \
    eh_{personality,ptr,term_handler,terminate,throw,unex_handler}.o
  ar r "$libraries/libstdc++.a" "$libraries/no_exceptions.o"
  c++ -Os -s -flto=auto -static-libstdc++ -static-libgcc -Wl,--gc-sections \
    -Wl,-z,pack-relative-relocs -Iinclude -x c samples/static_call.c -x none \
    "-L$libraries" "$build/src/api/libtakt.a" \
    -Wl,--start-group "$abseil"/prefix/lib/*.a -Wl,--end-group -o "$output"
  "$output" tests/testdata/fat/fat.vmfb
else
  output=$build/libtakt.stripped.so
  strip -o "$output" "$build/src/api/libtakt.so"
fi
stat -c '%n: %s bytes' "$output"
readelf -d "$output" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/  links \1/p'
