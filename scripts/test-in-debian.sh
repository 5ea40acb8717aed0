#!/usr/bin/env bash
# Runs PipSink's commands on a fresh Debian of another release than this machine's, in a chroot with this machine's
# Swift toolchain. The sources are a copy of the work tree without what git ignores.
#
#   test-in-debian.sh SUITE [COMMAND]
#
# SUITE is a release by its code name, such as trixie. COMMAND is a shell command line that runs in the copy of the
# sources; without one the two commands of the README run: make demo, then make test.
#
# The chroot is made the first time, in .build/debian-SUITE, and kept; later runs only renew the sources. The build
# folder in it is kept, too, unless PIPSINK_CLEAN=1 is set. MIRROR names another mirror of Debian's packages.
#
# It must run as root, and needs debootstrap and unshare. Mounts are made in a mount namespace of the run, so none is
# left behind, whatever ends it.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: $0 SUITE [COMMAND]" >&2
  exit 64
fi
suite=$1
command=${2:-make demo && make test}
mirror=${MIRROR:-http://deb.debian.org/debian}
cd "$(dirname "$0")/.."
sources=$PWD
root=${PIPSINK_CHROOT:-$sources/.build/debian-$suite}

fail() {
  echo "$0: $1" >&2
  exit "$2"
}
[ "$(id -u)" -eq 0 ] || fail "a chroot needs root; run it with sudo" 77
for tool in debootstrap unshare git; do
  command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install debootstrap util-linux git" 69
done
swift=$(command -v "${SWIFT:-swift}") || fail "no Swift toolchain is in PATH" 69
swift=$(readlink -f "$swift")
toolchain=$(dirname "$(dirname "$(dirname "$swift")")")

# A mount namespace of our own: whatever is mounted below ends with this script.
if [ "${PIPSINK_IN_NAMESPACE:-}" != 1 ]; then
  PIPSINK_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi

if [ ! -e "$root/.ready" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  # What the toolchain itself needs, beside what PipSink's own scripts install.
  cp /etc/resolv.conf "$root/etc/"
  mount -t proc proc "$root/proc"
  chroot "$root" apt-get update -qq
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    ca-certificates git make gcc g++ libc6-dev binutils pkg-config libxml2 libcurl4 libncurses6 libsqlite3-0 libedit2 \
    zlib1g-dev tzdata procps util-linux
  umount "$root/proc"
  touch "$root/.ready"
fi

cp /etc/resolv.conf "$root/etc/"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
# /tmp belongs to this run alone, so that the servers' sockets there do not meet those of the machine.
mount -t tmpfs tmpfs "$root/tmp"
chmod 1777 "$root/tmp"

bind() {
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
}
bind "$toolchain"
# Swift packages may be mirrored in a local folder, which git's configuration names then (url.FOLDER.insteadOf).
git config --list | sed -n 's/^url\.\(\/[^=]*\)\.insteadof=.*/\1/p' | sort -u | while read -r folder; do
  [ ! -d "$folder" ] || bind "${folder%/}"
done
for file in /etc/gitconfig /etc/gitignore "$HOME/.gitconfig"; do
  [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
done

# The sources as they are here, with their times, so that what has not changed is not built again.
target=$root/root/pipsink
mkdir -p "$target"
[ "${PIPSINK_CLEAN:-}" != 1 ] || rm -rf "$target/.build"
find "$target" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
git ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --create --null --files-from=- | tar --extract --directory "$target"
# Package.swift and some tests ask git about the tree.
git -C "$target" -c init.defaultBranch=main init --quiet
git -C "$target" add --all

chroot "$root" env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
  PATH="$(dirname "$swift"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
  CI="${CI:-}" sh -c "cd /root/pipsink && { $command; }" </dev/null
