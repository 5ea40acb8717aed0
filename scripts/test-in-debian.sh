#!/usr/bin/env bash
# Runs PipSink's commands on a fresh Debian, of any release, in a chroot with this machine's Swift toolchain. The
# sources are a copy of the work tree without the files that git ignores.
#
#   test-in-debian.sh SUITE [COMMAND]
#
# SUITE is the code name of a release, such as trixie. COMMAND is a shell command line that runs in the copy of the
# sources. The default is the README's two commands: make demo, then make test. The script exits with the command's
# status.
#
# The first run makes the chroot in .build/debian-SUITE. Later runs update the sources in it, and build what has
# changed. These variables change that:
#   PIPSINK_CHROOT   another folder for the chroot
#   PIPSINK_CLEAN=1  builds everything again
#   MIRROR           another mirror of Debian's packages
#   SWIFT            another swift than the one in PATH
# CI and the other variables that begin with PIPSINK_ are passed on to the command.
#
# The script must run as root, and needs debootstrap, util-linux and git. Its mounts and processes are in namespaces of
# the run, so that none is left behind, however it ends.
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
# The toolchain says where its folder is, because the command in PATH may be a launcher in another folder.
toolchain=$("$swift" -print-target-info | sed -n 's|.*"runtimeResourcePath" *: *"\(.*\)/usr/lib/swift".*|\1|p')
[ -d "$toolchain/usr/bin" ] ||
  fail "the toolchain of $swift cannot be mounted: it must be in a folder of its own that contains usr/bin" 69

# The script runs in new namespaces. What is mounted or started below ends with it, even if it is killed.
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

# A file marks an unfinished chroot, which is made again from the beginning. Other folders are never removed.
if [ ! -e "$root/.ready" ]; then
  if [ ! -e "$root/.unfinished" ] && [ -n "$(ls -A "$root")" ]; then
    fail "$root is not empty, and no chroot of this script: name another folder with PIPSINK_CHROOT" 73
  fi
  find "$root" -mindepth 1 -delete
  touch "$root/.unfinished"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" ||
    fail "debootstrap could not make a Debian $suite from $mirror; its log is $root/debootstrap/debootstrap.log" 69
fi

for file in /etc/resolv.conf /etc/hosts; do
  [ ! -e "$file" ] || cp --dereference "$file" "$root/etc/"
done
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
# The run has a /tmp of its own, so that the sockets of its servers do not conflict with those of the machine.
mount -t tmpfs tmpfs "$root/tmp"
chmod 1777 "$root/tmp"

# The environment in the chroot, with the variables that are passed on from the machine.
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
  # These packages are needed by the toolchain. PipSink's scripts install all others.
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
# If git's configuration redirects Swift packages (url.BASE.insteadOf), the chroot gets the same redirection, and a
# local folder that it names is mounted. Nothing else of that configuration is passed on.
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

# The sources are copied with their times, so that unchanged files are not built again.
target=$root/root/pipsink
mkdir -p "$target"
[ "${PIPSINK_CLEAN:-}" != 1 ] || rm -rf "$target/.build"
find "$target" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
cd "$sources"
# With sudo, the repository belongs to another user than root, which git refuses by default.
git -c safe.directory='*' ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do [ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"; done |
  tar --create --null --files-from=- | tar --extract --no-same-owner --directory "$target"
# Package.swift and some tests ask git about the tree.
git -C "$target" -c init.defaultBranch=main init --quiet
git -C "$target" -c safe.directory='*' add --all

inside sh -c "cd /root/pipsink && { $command
}"
