#!/usr/bin/env bash
# Tries demo.sh and test.sh where nothing is installed: makes a bare Debian 12
# with debootstrap, clones this repository into it, and runs both inside.
#
# usage: scripts/clean_root.sh [--python] [DIRECTORY]     default: build/clean_root
#        --python: the Python quick start instead, timed: pip install with the
#        compiler in a new venv, then an ONNX file to a first result
#
# Needs root and debootstrap. The packages come from where this machine's do.
# The directory stays, so that a second run starts from the bare system again
# without fetching it: the clone and what was installed are in an overlay.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=
case ${1:-} in
  --python)
    python=1
    shift
    ;;
  -*)
    print_usage
    [[ $1 == --help ]] && exit 0 || exit 2
    ;;
esac
directory=$(realpath -m "${1:-build/clean_root}")
root=$directory/root

((EUID == 0)) || { echo "clean_root: run as root" >&2; exit 1; }
command -v debootstrap >/dev/null || {
  echo "clean_root: needs debootstrap: apt-get install debootstrap" >&2
  exit 1
}

# The first archive of this machine's apt, and how it reaches it.
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' |
  awk '$2 ~ /bookworm|12/ && !/security/ { print $1; exit }')
: "${mirror:=http://deb.debian.org/debian}"

if [[ ! -e $root/.complete ]]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates,git bookworm \
    "$root" "$mirror"
  touch "$root/.complete"
fi

work=$directory/work
rm -rf "$work"
mkdir -p "$work"/{upper,overlay,merged}
mount -t overlay overlay -o \
  "lowerdir=$root,upperdir=$work/upper,workdir=$work/overlay" "$work/merged"
cleanup() {
  umount "$work/merged/proc" 2>/dev/null || true
  umount "$work/merged"
}
trap cleanup EXIT
inside=$work/merged
mount -t proc proc "$inside/proc"
cp /etc/resolv.conf "$inside/etc/resolv.conf"
cp -r /etc/apt/. "$inside/etc/apt/"
# PyPI may be behind certificates of this machine's own.
mkdir -p "$inside/etc/ssl/certs"
cp -L /etc/ssl/certs/ca-certificates.crt "$inside/etc/ssl/certs/"
git clone --quiet . "$inside/takt"
in_root() {
  chroot "$inside" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"
}
if [[ -n $python ]]; then
  SECONDS=0
  in_root /takt/scripts/install_deps.sh --wheel
  echo "clean_root: packages after $SECONDS s"
  in_root python3 -m venv /venv
  in_root bash -c 'cd /takt && /venv/bin/pip install --quiet ".[compile]"'
  echo "clean_root: installed after $SECONDS s"
  in_root bash -c 'cd /root && /venv/bin/python /takt/scripts/quick_start.py'
  echo "clean_root: a result after $SECONDS s"
  exit
fi
in_root /takt/scripts/demo.sh
in_root /takt/scripts/test.sh
