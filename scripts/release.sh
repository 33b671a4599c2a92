#!/usr/bin/env bash
# Makes a release: sources, Debian packages, documentation, checksums.
#
# usage: scripts/release.sh [--output=DIRECTORY] [--from=BUILD_TREE]
#                           [--arm64=BUILD_TREE]
#        --output: default: build/release-VERSION
#        --from: a build tree for /usr, for the packages (default: build/package,
#        which scripts/package.sh builds)
#        --arm64: a build tree of the preset aarch64, whose packages are added
#
# The commit is released, and nothing that is not committed. Fails if the ABI
# differs from packaging/abi/ (scripts/abi.sh) or if CHANGELOG.md does not name
# the version. The same commit gives the same archive of sources.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output= from= arm64=
for argument in "$@"; do
  case $argument in
    --output=*) output=${argument#--output=} ;;
    --from=*) from=${argument#--from=} ;;
    --arm64=*) arm64=${argument#--arm64=} ;;
    *)
      print_usage
      [[ $argument == --help ]] && exit 0 || exit 2
      ;;
  esac
done
version=$(sed -n 's/^project(takt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ -n $output ]] || output=build/release-$version
[[ -z $(git status --porcelain) ]] || {
  echo "release: there are changes that are not committed" >&2
  exit 1
}
grep -q "$version" CHANGELOG.md || {
  echo "release: CHANGELOG.md does not name $version" >&2
  exit 1
}
scripts/abi.sh
mkdir -p "$output"
output=$(realpath "$output")
rm -rf "${output:?}"/*

name=takt-$version
git archive --prefix="$name/" HEAD | xz -T1 -9 >"$output/$name.tar.xz"

scripts/package.sh ${from:+--from="$from"} --output="$output"
[[ -z $arm64 ]] || (cd "$output" &&
  cpack --config "$(realpath "$OLDPWD/$arm64")/CPackConfig.cmake" -B "$output" >/dev/null)
rm -rf "$output/_CPack_Packages"

# The pages, and the reference if doxygen is there.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name-docs"
git archive HEAD docs README.md CHANGELOG.md | tar -x -C "$work/$name-docs"
if command -v doxygen >/dev/null; then
  { echo "@INCLUDE = docs/Doxyfile"; echo "PROJECT_NUMBER = $version"
    echo "OUTPUT_DIRECTORY = $work/$name-docs/reference"; } >"$work/Doxyfile"
  mkdir -p "$work/$name-docs/reference"
  doxygen "$work/Doxyfile" >/dev/null
fi
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$(git log -1 --format=%ct)" -c "$name-docs" | xz -T1 >"$output/$name-docs.tar.xz"

git rev-parse HEAD >"$output/COMMIT"
(cd "$output" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
