#!/usr/bin/env bash
# Runs PipSink's commands on a fresh Debian of another release than this machine's, in a chroot with this machine's
# Swift toolchain. The sources are a copy of the work tree without what git ignores.
#
#   test-in-debian.sh SUITE [COMMAND]
#
# SUITE is a release by its code name, such as trixie. COMMAND is a shell command line that runs in the copy of the
# sources; without one the two commands of the README run: make demo, then make test. The script ends with the
# command's status.
#
# The chroot is made the first time, in .build/debian-SUITE, and kept: later runs only renew the sources, and build
# what has changed. These variables change that:
#   PIPSINK_CHROOT   another folder for the chroot
#   PIPSINK_CLEAN=1  builds everything anew
#   MIRROR           another mirror of Debian's packages
#   SWIFT            another swift than the one in PATH
# CI and the other variables that begin with PIPSINK_ are handed on to the command.
#
# It must run as root, and needs debootstrap, util-linux and git. Mounts and processes belong to namespaces of the run,
# so none is left behind, whatever ends it.
set -euo pipefail

fail() {
  echo "$0: $1" >&2
  exit "$2"
}

[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: $0 SUITE [COMMAND]" 64
suite=$1
command=${2:-make demo && make test}
case $suite in
  "" | *[!a-z0-9-]*) fail "\"$suite\" is no release of Debian's; give its code name, such as trixie" 64 ;;
esac
script=$(readlink -f "$0")
sources=$(dirname "$(dirname "$script")")
root=$(readlink -m "${PIPSINK_CHROOT:-$sources/.build/debian-$suite}")
mirror=${MIRROR:-http://deb.debian.org/debian}

[ "$(id -u)" -eq 0 ] || fail "a chroot needs root: run it with sudo" 77
for tool in debootstrap unshare setpriv flock git; do
  command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install debootstrap util-linux git" 69
done
swift=$(command -v "${SWIFT:-swift}") || fail "there is no Swift toolchain in PATH; SWIFT can name one" 69
# The toolchain's folder by its own account: what is in PATH may be a launcher that lies elsewhere.
toolchain=$("$swift" -print-target-info | sed -n 's|.*"runtimeResourcePath" *: *"\(.*\)/usr/lib/swift".*|\1|p')
[ -d "$toolchain/usr/bin" ] ||
  fail "the toolchain of $swift cannot be mounted: it has to lie in a folder of its own, with usr/bin in it" 69

# Namespaces of our own: what is mounted or started below ends with this script, also where that is killed.
if [ "${PIPSINK_IN_NAMESPACE:-}" != 1 ]; then
  mkdir -p "$root"
  exec 9<"$root"
  flock --nonblock 9 || fail "another run uses $root; wait for it, or name another folder with PIPSINK_CHROOT" 75
  PIPSINK_IN_NAMESPACE=1 setpriv --pdeathsig KILL \
    unshare --mount --propagation private --pid --fork --kill-child --ipc "$script" "$@" </dev/null &
  run=$!
  trap 'kill -KILL $run 2>/dev/null || true' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  status=0
  wait "$run" || status=$?
  exit "$status"
fi

# A chroot that is being made says so, and is begun anew if it was not finished. Nobody else's folder is removed.
if [ ! -e "$root/.ready" ]; then
  if [ ! -e "$root/.unfinished" ] && [ -n "$(ls -A "$root")" ]; then
    fail "$root is no chroot of this script's, and not empty: name another folder with PIPSINK_CHROOT" 73
  fi
  find "$root" -mindepth 1 -delete
  touch "$root/.unfinished"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" ||
    fail "debootstrap has not made a Debian $suite from $mirror; its log is $root/debootstrap/debootstrap.log" 69
fi

for file in /etc/resolv.conf /etc/hosts; do
  [ ! -e "$file" ] || cp --dereference "$file" "$root/etc/"
done
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
# /tmp belongs to this run alone, so that the servers' sockets there do not meet those of the machine.
mount -t tmpfs tmpfs "$root/tmp"
chmod 1777 "$root/tmp"

# What is there of the machine's environment.
environment=(
  HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8
  PATH="$toolchain/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
for name in CI http_proxy https_proxy no_proxy "${!PIPSINK_@}"; do
  case $name in PIPSINK_IN_NAMESPACE | PIPSINK_CHROOT | PIPSINK_CLEAN) continue ;; esac
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done
inside() { chroot "$root" env -i "${environment[@]}" "$@" </dev/null; }

if [ ! -e "$root/.ready" ]; then
  # What the toolchain itself needs, beside what PipSink's own scripts install.
  inside apt-get update -qq
  inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    ca-certificates git make gcc g++ libc6-dev binutils pkg-config libxml2 libcurl4 libncurses6 libsqlite3-0 libedit2 \
    zlib1g-dev tzdata procps util-linux
  mv "$root/.unfinished" "$root/.ready"
fi

bind() {
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
}
bind "$toolchain"
# Where git's configuration has Swift packages come from elsewhere (url.BASE.insteadOf), it does so in the chroot, and a
# local folder is there, too. Nothing else of that configuration is handed on.
configuration=$root/root/.gitconfig
rm -f "$configuration"
git config --file "$configuration" --add safe.directory '*'
{ git config --get-regexp '^url\..*\.insteadof$' || true; } | while read -r key value; do
  git config --file "$configuration" --add "$key" "$value"
  folder=${key#url.}
  folder=${folder%.insteadof}
  folder=${folder#file://}
  case $folder in /?*) [ ! -d "$folder" ] || mountpoint --quiet "$root${folder%/}" || bind "${folder%/}" ;; esac
done

# The sources as they are here, with their times, so that what has not changed is not built again.
target=$root/root/pipsink
mkdir -p "$target"
[ "${PIPSINK_CLEAN:-}" != 1 ] || rm -rf "$target/.build"
find "$target" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
cd "$sources"
# Run with sudo, root is not the one whom the repository belongs to.
git -c safe.directory='*' ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"; done |
  tar --create --null --files-from=- | tar --extract --no-same-owner --directory "$target"
# Package.swift and some tests ask git about the tree.
git -C "$target" -c init.defaultBranch=main init --quiet
git -C "$target" -c safe.directory='*' add --all

inside sh -c "cd /root/pipsink && { $command
}"
