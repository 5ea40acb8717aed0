#!/bin/sh
# Installs the Debian package in a new Debian 12 without Swift, and shows a picture-in-picture window from there.
# As root; needs debootstrap, Xvfb, openbox, wmctrl and the network.
#   test-deb.sh PACKAGE
set -eu

package=$1
root=$(mktemp -d)
pids=""
cleanup() {
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
  umount "$root/proc" 2>/dev/null || true
  rm -rf "$root"
}
trap cleanup EXIT

debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
cp "$package" "$root/root/pipsink.deb"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
chroot "$root" apt-get update -qq
chroot "$root" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends /root/pipsink.deb gstreamer1.0-tools gstreamer1.0-plugins-base >/dev/null

# Of Swift, and of the plugin's own, nothing can be seen by the rest of a process.
exported=$(nm -D --defined-only "$root"/usr/lib/*/gstreamer-1.0/libgstpipsink.so | awk '$2 ~ /[A-Z]/ { print $3 }')
if [ "$exported" != gst_plugin_pipsink_get_desc ]; then
  echo "the plugin exports $exported" >&2
  exit 1
fi

# Windows need no toolkit.
if dpkg-deb -f "$package" Depends | grep -q gtk; then
  echo "the package depends on GTK" >&2
  exit 1
fi

# Swift's runtime and FoundationEssentials are in it; all of Foundation would make it 60 MB.
size=$(stat -c %s "$root/usr/bin/pipsink-demo")
if [ "$size" -gt 20000000 ]; then
  echo "pipsink-demo has $size bytes, more than 20 MB" >&2
  exit 1
fi

numbers=$(mktemp)
# By its abstract socket the server is there in the new root, too.
Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset >"$numbers" 2>/dev/null &
pids="$!"
while [ ! -s "$numbers" ]; do sleep 0.1; done
display=":$(cat "$numbers")"
rm "$numbers"
DISPLAY=$display openbox --sm-disable &
pids="$pids $!"

chroot "$root" env HOME=/root DISPLAY="$display" \
  gst-launch-1.0 -q videotestsrc num-buffers=300 ! pipsink stream-id=a mode=pip &
launch=$!
tries=0
until DISPLAY=$display wmctrl -l 2>/dev/null | grep -q "Picture-in-Picture"; do
  tries=$((tries + 1))
  if [ "$tries" -gt 90 ]; then
    echo "no picture-in-picture window was shown" >&2
    exit 1
  fi
  sleep 0.1
done
echo "The picture-in-picture window is shown."
wait "$launch"
chroot "$root" env HOME=/root pipsink-demo play "videotestsrc num-buffers=30 ! appsink name=a" --surface offscreen
