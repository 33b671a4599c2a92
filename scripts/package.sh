#!/usr/bin/env bash
# Makes the Debian packages, and tries them where nothing else is installed.
#
# usage: scripts/package.sh [--from=BUILD_TREE] [--output=DIRECTORY]
#                           [--root=DIRECTORY]
#        --from: a build tree with the libraries and tools in it (default:
#        build/package, which is built for /usr first)
#        --output: where the packages go (default: build/packages)
#        --root: installs them in a bare Debian 12, builds samples/ against them,
#        runs one, and removes them again. The bare system is made in the
#        directory with debootstrap, and stays. Needs root.
#
# If lintian is installed, its errors end the script.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
from= output=build/packages root=
for argument in "$@"; do
  case $argument in
    --from=*) from=${argument#--from=} ;;
    --output=*) output=${argument#--output=} ;;
    --root=*) root=$(realpath -m "${argument#--root=}") ;;
    *)
      print_usage
      [[ $argument == --help ]] && exit 0 || exit 2
      ;;
  esac
done

if [[ -z $from ]]; then
  from=build/package
  cmake --preset release -B "$from" -D CMAKE_INSTALL_PREFIX=/usr \
    -D TAKT_BUILD_TESTS=OFF -D TAKT_BUILD_BENCHMARKS=OFF >/dev/null
  cmake --build "$from"
fi
from=$(realpath "$from")
mkdir -p "$output"
output=$(realpath "$output")
rm -f "$output"/*.deb
(cd "$output" && cpack --config "$from/CPackConfig.cmake" -B "$output" >/dev/null)
ls "$output"/*.deb
if command -v lintian >/dev/null; then
  lintian --allow-root --tag-display-limit 0 --fail-on error "$output"/*.deb
fi
[[ -n $root ]] || exit 0

((EUID == 0)) || { echo "package: --root needs root" >&2; exit 1; }
if [[ ! -e $root/.complete ]]; then
  mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' |
    awk '$2 ~ /bookworm|12/ && !/security/ { print $1; exit }')
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" \
    "${mirror:-http://deb.debian.org/debian}" >/dev/null
  touch "$root/.complete"
fi
work=$root.work
rm -rf "$work"
mkdir -p "$work"/{upper,overlay,merged}
mount -t overlay overlay -o \
  "lowerdir=$root,upperdir=$work/upper,workdir=$work/overlay" "$work/merged"
inside=$work/merged
cleanup() {
  umount "$inside/proc" 2>/dev/null || true
  umount "$inside"
}
trap cleanup EXIT
mount -t proc proc "$inside/proc"
cp /etc/resolv.conf "$inside/etc/resolv.conf"
mkdir "$inside/packages"
cp "$output"/*.deb "$inside/packages"
cp -r "$source/samples" "$inside/samples"
mkdir "$inside/modules"
cp "$source/tests/testdata/api/simple_mul.vmfb" "$inside/modules"
in_root() {
  chroot "$inside" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" \
    https_proxy="${https_proxy:-}" "$@"
}
# step TEXT COMMAND...: what was done, and how long it took.
step() {
  local text=$1 start=$EPOCHREALTIME
  shift
  "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
  awk -v text="$text" -v from="$start" -v to="$EPOCHREALTIME" \
    'BEGIN { printf "%s: %.1f s\n", text, to - from }'
}
step "apt-get update" in_root apt-get update
step "a compiler and CMake" in_root apt-get install -y --no-install-recommends \
  g++ cmake make pkg-config
step "apt install ./libtakt0*.deb ./libtakt-dev*.deb ./takt-tools*.deb" \
  in_root sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'
step "samples/ built" in_root sh -c 'cmake -S samples -B build && cmake --build build'
step "takt-run-module" in_root takt-run-module --module=/modules/simple_mul.vmfb \
  --function=mul --input=4xf32=1,2,3,4 --input=4xf32=10,20,30,40
grep -q '40 90 160' "$work/log"
step "samples/hello" in_root /build/hello /modules/simple_mul.vmfb
cat "$work/log"
step "apt remove" in_root apt-get purge -y libtakt0 libtakt-dev takt-tools
left=$(chroot "$inside" find /usr -iname '*takt*')
[[ -z $left ]] || { echo "package: left behind: $left" >&2; exit 1; }
