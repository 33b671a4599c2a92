# For other scripts: Debian's source packages, with an apt of their own in
# $apt_home. Nothing is installed.

# own_apt COMMAND...
own_apt() {
  apt-get -qq -o Dir::State="$apt_home" -o Dir::Cache="$apt_home/cache" \
    -o Dir::Etc::sourceparts=- -o Dir::Etc::sourcelist="$apt_home/sources" \
    -o APT::Sandbox::User=root "$@"
}

# Reads the lists of the first archive of this machine's apt.
prepare_own_apt() {
  mkdir -p "$apt_home/lists/partial" "$apt_home/cache/archives/partial"
  local mirror
  mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' |
    awk '$2 ~ /bookworm|12/ && !/security/ { print $1; exit }')
  : "${mirror:=http://deb.debian.org/debian}"
  printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm main\n' \
    deb "$mirror" deb-src "$mirror" >"$apt_home/sources"
  own_apt update
}

# fetch_source PACKAGE DIRECTORY: unpacks the source into DIRECTORY/PACKAGE.
fetch_source() {
  local package=$1 directory=$2
  (cd "$directory" && rm -rf "$package" &&
    own_apt source --download-only "$package" &&
    dpkg-source -x "$(ls -t "${package}"_*.dsc | head -n 1)" "$package" >/dev/null)
}
