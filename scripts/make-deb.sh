#!/bin/sh
# Builds the Debian packages that debian/ describes, gstreamer1.0-pipsink and pipsink, by dpkg-buildpackage.
#   make-deb.sh FOLDER
#
# The packages come into FOLDER, and the sources are built in a copy, FOLDER/pipsink, so that nothing of debhelper's
# comes into the work tree. PIPSINK_PRODUCTS is a folder with the program and the plugin, if "make install-build" has
# built them. Without it the copy builds them, and keeps what Swift has built: later runs build what has changed.
# SWIFT names another swift than the one in PATH.
set -eu

[ $# -eq 1 ] || {
  echo "usage: $0 FOLDER" >&2
  exit 64
}
for tool in dpkg-buildpackage dh git; do
  command -v "$tool" >/dev/null || {
    echo "$tool is missing: apt-get install build-essential debhelper git" >&2
    exit 69
  }
done

mkdir -p "$1"
folder=$(cd "$1" && pwd)
copy=$folder/pipsink
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
rm -f "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo

# The sources as they are here, with their times, so that what has not changed is not built again.
cd "$(dirname "$0")/.."
git -c safe.directory='*' ls-files --cached --others --exclude-standard -z |
  xargs -0 sh -c 'for file; do [ ! -e "$file" ] && [ ! -L "$file" ] || printf "%s\0" "$file"; done' sh |
  tar --create --null --files-from=- | tar --extract --no-same-owner --directory "$copy"

# debhelper gives what it runs another home. Where Swift packages come from, git says in that of the user.
if [ -z "${GIT_CONFIG_GLOBAL:-}" ] && [ -e "$HOME/.gitconfig" ]; then
  export GIT_CONFIG_GLOBAL="$HOME/.gitconfig"
fi

# The profile says that the Swift toolchain is none of Debian's packages.
cd "$copy"
dpkg-buildpackage --build=binary --build-profiles=pkg.pipsink.toolchain --no-pre-clean --unsigned-changes --unsigned-buildinfo
