#!/bin/sh
# Checks the Debian packages with lintian, installs them in a new Debian without Swift, uses them there as their users
# do, and removes them again.
#   test-deb.sh FOLDER [SUITE]
#
# FOLDER is where make-deb.sh has put the packages. SUITE is the release to install them in, by its code name: this
# machine's without it, as the packages depend on the libraries of the release that they were built on.
# As root; needs lintian, debootstrap, Xvfb, openbox, wmctrl and the network. MIRROR is another mirror of Debian's packages.
set -eu

fail() {
  echo "$0: $1" >&2
  exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || {
  echo "usage: $0 FOLDER [SUITE]" >&2
  exit 64
}
folder=$(cd "$1" && pwd)
suite=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
[ "$(id -u)" -eq 0 ] || {
  echo "a chroot needs root: run it with sudo" >&2
  exit 77
}
plugin=$(ls "$folder"/gstreamer1.0-pipsink_*.deb)
program=$(ls "$folder"/pipsink_*.deb)

root=$(mktemp -d)
pids=""
cleanup() {
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
  umount "$root/proc" 2>/dev/null || true
  rm -rf "$root"
}
trap cleanup EXIT

# Errors and warnings fail; hints are shown. What is overridden says why in debian/*.lintian-overrides.
lintian --allow-root --fail-on error,warning --display-info "$folder"/pipsink_*.changes ||
  fail "lintian has found what is said above"

# Windows need no toolkit.
for package in "$plugin" "$program"; do
  if dpkg-deb -f "$package" Depends | grep -q gtk; then fail "$package depends on GTK"; fi
done

debootstrap --variant=minbase "$suite" "$root" "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
cp "$plugin" "$program" "$root/root"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# apt-get without what it says of a chroot: that it has no terminal, and that the folders of root are not for its user.
apt() { inside apt-get -y -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@" >/dev/null; }
apt update
# What the plugin and the program need to run, and no more: neither Recommends nor anything of Swift's.
apt install --no-install-recommends "/root/$(basename "$plugin")" gstreamer1.0-tools
inside gst-inspect-1.0 pipsink >/dev/null || fail "gst-inspect-1.0 does not know the element"
if grep -qi swift "$root/var/lib/dpkg/status"; then fail "the packages need a package of Swift's"; fi
apt install --no-install-recommends "/root/$(basename "$program")"
version=$(dpkg-deb -f "$program" Version)
inside pipsink-demo --version | grep -q "^pipsink-demo $version," || fail "pipsink-demo is of another version than its package, $version"

# Of Swift, and of the plugin's own, nothing can be seen by the rest of a process.
exported=$(nm -D --defined-only "$root"/usr/lib/*/gstreamer-1.0/libgstpipsink.so | awk '$2 ~ /[A-Z]/ { print $3 }')
[ "$exported" = gst_plugin_pipsink_get_desc ] || fail "the plugin exports $exported"

# The linker's hardening: addresses that are read-only once they are resolved, before the program runs, and a
# position-independent program. Swift bounds-checks by itself what the compiler's hardening bounds-checks in C.
for file in "$root/usr/bin/pipsink-demo" "$root"/usr/lib/*/gstreamer-1.0/libgstpipsink.so; do
  header=$(readelf --file-header --program-headers --dynamic --wide "$file")
  for sign in "Type: *DYN" GNU_RELRO "BIND_NOW\|Flags: NOW" "GNU_STACK .* RW "; do
    echo "$header" | grep -q "$sign" || fail "$file has no $sign"
  done
done

# Swift's runtime and FoundationEssentials are in it; all of Foundation would make it 60 MB.
size=$(stat -c %s "$root/usr/bin/pipsink-demo")
[ "$size" -le 20000000 ] || fail "pipsink-demo has $size bytes, more than 20 MB"

# Pipelines that menu entries name are there, and so are their icon and the program.
"$(dirname "$0")/validate-desktop-files.sh" "$root"/usr/share/applications/pipsink-*.desktop "$root"/usr/share/metainfo/*
for file in $(sed -n 's/^Exec=.* \(\/[^ ]*\).*/\1/p' "$root"/usr/share/applications/pipsink-*.desktop) \
  /usr/share/icons/hicolor/scalable/apps/pipsink-demo.svg /usr/share/bash-completion/completions/pipsink-demo; do
  [ -s "$root$file" ] || fail "$file is not installed"
done

numbers=$(mktemp)
# By its abstract socket the server is there in the new root, too.
Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset >"$numbers" 2>/dev/null &
pids="$!"
while [ ! -s "$numbers" ]; do sleep 0.1; done
display=":$(cat "$numbers")"
rm "$numbers"
DISPLAY=$display openbox --sm-disable &
pids="$pids $!"
tries=0
until DISPLAY=$display wmctrl -m >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -le 90 ] || fail "the window manager does not answer"
  sleep 0.1
done

# Waits until a command that runs in the background shows its picture-in-picture window, and ends by itself.
shows_picture_in_picture() {
  "$@" &
  launch=$!
  tries=0
  until DISPLAY=$display wmctrl -l 2>/dev/null | grep -q "Picture-in-Picture"; do
    tries=$((tries + 1))
    [ "$tries" -le 90 ] || fail "no picture-in-picture window was shown by $*"
    sleep 0.1
  done
  wait "$launch" || fail "$* ended with $?"
  echo "The picture-in-picture window is shown."
}
shows_picture_in_picture inside DISPLAY="$display" \
  gst-launch-1.0 -q videotestsrc num-buffers=300 ! pipsink stream-id=a mode=pip
shows_picture_in_picture inside DISPLAY="$display" \
  pipsink-demo play --pipeline /usr/share/pipsink/pipelines/two-streams.launch --mode pip --duration 10

# What Debian's own infrastructure would run there.
for test in element program; do
  cp "$(dirname "$0")/../debian/tests/$test" "$root/root/$test"
  inside "/root/$test" >"$root/root/$test.log" || {
    cat "$root/root/$test.log" >&2
    fail "debian/tests/$test has failed"
  }
done

# Nothing is left of them.
apt purge pipsink gstreamer1.0-pipsink
left=$(inside find /usr /etc -iname '*pipsink*')
[ -z "$left" ] || fail "the packages leave $left"
echo "The packages of version $version pass lintian, and work on Debian $suite."
