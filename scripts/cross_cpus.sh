# For scripts/cross.sh --cpus: the processors whose kernels differ, the kernels
# that Takt should choose on each, and the tests that run them.
#
# Debian 12's qemu has no neoverse-v1, and fails an assertion of its own on V of
# RISC-V, so the one of bookworm-backports is unpacked (never installed). No
# qemu has a switch for i8mm alone: cortex-a76 and neoverse-n1 are without.

# PROCESSOR KERNELS
cpu_table_aarch64="
max neon-i8mm
max,sve=off neon-i8mm
neoverse-v1 neon-i8mm
neoverse-n1 neon-dotprod
cortex-a76 neon-dotprod
cortex-a53 portable"
cpu_table_riscv64="
rv64,v=true,vlen=128 rvv
rv64,v=true,vlen=256 rvv
rv64,v=false portable"

# Builds the tests of kernels and of their choice. gcc 12 has no intrinsics of
# V: for kernels with V, clang 16 builds all for processors that have it.
build_kernel_tests() {
  local kernels=$1 tree=$build options=()
  if [[ $kernels == rvv ]]; then
    tree=$build-v
    options=(-D CMAKE_C_COMPILER=clang-16 -D CMAKE_CXX_COMPILER=clang++-16
      -D CMAKE_C_COMPILER_TARGET="$triple"
      -D CMAKE_CXX_COMPILER_TARGET="$triple" -D TAKT_WERROR=OFF
      -D CMAKE_C_FLAGS=-march=rv64gcv -D CMAKE_CXX_FLAGS=-march=rv64gcv)
  fi
  cmake --preset "$architecture" -B "$tree" -D TAKT_SYSROOT="$sysroot" \
    "${options[@]}" >/dev/null
  local names=(cpu_cpu_features_test) source
  for source in tests/kernels/*_test.cc; do
    names+=("kernels_$(basename "$source" .cc)")
  done
  cmake --build "$tree" --target "${names[@]}" >/dev/null
  kernel_tests=("${names[@]/#/$tree/tests/}")
}

# Unpacks qemu of bookworm-backports, and prints its path.
unpack_newer_qemu() {
  local work=$sysroot/.qemu
  local program=$work/usr/bin/qemu-$architecture
  if [[ ! -x $program ]]; then
    mkdir -p "$work"
    prepare_own_apt
    sed -n '/^deb /s/ bookworm / bookworm-backports /p' "$apt_home/sources" \
      >"$apt_home/sources.backports"
    cat "$apt_home/sources.backports" >>"$apt_home/sources"
    own_apt update
    (cd "$work" && own_apt download -t bookworm-backports qemu-user/bookworm-backports)
    dpkg-deb -x "$(ls "$work"/qemu-user_*.deb)" "$work"
  fi
  echo "$program"
}

# Runs the tests on one processor; the last line has the kernels that ran.
run_kernel_tests() {
  local qemu=$1 cpu=$2 kernels=$3 log=$build/kernels-$2.log test passed=0 failed=0
  mkdir -p "$build"
  : >"$log"
  for test in "${kernel_tests[@]}"; do
    if "$qemu" -cpu "$cpu" -L "/usr/$triple" \
      -E "LD_LIBRARY_PATH=$sysroot/usr/lib/$triple" \
      -E "TAKT_EXPECTED_KERNELS=$kernels" "$test" >>"$log" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "$cpu: $test failed; see $log"
    fi
  done
  echo "$cpu: $passed programs passed, $failed failed;" \
    "$(sed -n 's/^kernels that run here: /ran: /p' "$log"), chosen: $kernels"
  ((failed == 0))
}

# All processors of the architecture.
run_on_each_cpu() {
  local qemu table=cpu_table_$architecture cpu kernels result=0 built=
  qemu=$(unpack_newer_qemu)
  "$qemu" --version | head -n 1
  while read -r cpu kernels; do
    [[ -n $cpu ]] || continue
    # All but the kernels with V are in one build.
    if [[ -z $built || $kernels == rvv || $built == rvv ]] &&
      [[ $built != "$kernels" ]]; then
      build_kernel_tests "$kernels"
      built=$kernels
    fi
    run_kernel_tests "$qemu" "$cpu" "$kernels" || result=1
  done <<<"${!table}"
  return $result
}
