#!/bin/sh
# Installs the missing ones of the Debian packages that are needed to build PipSink's programs and the element. Each
# option adds what one thing needs besides: --demo what "make demo" plays with, --bench what "make bench" compares PipSink
# with, --test what the tests need, --docs what builds the documentation's site, and --package what makes and tests the
# Debian packages. The script runs as root or uses sudo. With --test it also downloads PySide6 (Qt for Python) and aiortc
# (WebRTC in Python) from Python's package index into .build. If that fails, the tests that need them are skipped, and
# say so.
set -eu

packages="
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libyuv-dev pkg-config gcc make
  libxcb-shm0-dev libxcb-present-dev libxcb-randr0-dev libxcb-shape0-dev libxcb-xkb-dev libxkbcommon-x11-dev libwayland-dev
  libpango1.0-dev libglib2.0-dev libcurl4-openssl-dev libegl-dev libgles-dev gettext
"
demo_packages="
  gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x
  fonts-dejavu-core
"
bench_packages="gstreamer1.0-plugins-base gstreamer1.0-plugins-bad"
test_packages="
  libgtk-3-dev gstreamer1.0-tools
  wayland-protocols xvfb xserver-xephyr openbox i3-wm xfwm4 fluxbox icewm awesome bspwm dwm xcompmgr x11-xkb-utils x11-xserver-utils x11-utils x11-apps xdotool wmctrl imagemagick sway cage grim weston
  bubblewrap python3 python3-gi gir1.2-gst-rtsp-server-1.0 gir1.2-gst-plugins-bad-1.0 gstreamer1.0-nice dbus-daemon libglib2.0-bin
  at-spi2-core gir1.2-atspi-2.0 playerctl pulseaudio pulseaudio-utils gcc gir1.2-gtk-3.0 gir1.2-gst-plugins-base-1.0 python3-prometheus-client
  gir1.2-gtk-4.0 libgtk-4-dev libsdl2-dev gjs valac qt6-base-dev python3-pyqt6 python3-pip libxcb-cursor0 valgrind util-linux gstreamer1.0-plugins-base-apps locales binutils mutter xwayland kwin-wayland
  mandoc desktop-file-utils appstream chromium-headless-shell pango1.0-tools fonts-droid-fallback librsvg2-2 adwaita-icon-theme
"
package_tools="
  build-essential debhelper dpkg-dev lintian desktop-file-utils appstream debootstrap binutils git xvfb openbox wmctrl
"
docs_packages="libgtk-3-dev mandoc python3"
# Debian 13 has no Janus, and the test of calls with it is skipped there.
grep -qsx 'VERSION_ID="12"' /etc/os-release && test_packages="$test_packages janus"

case "${1:-}" in
  "") ;;
  --demo) packages="$packages $demo_packages" ;;
  --bench) packages="$packages $bench_packages" ;;
  --test) packages="$packages $demo_packages $bench_packages $test_packages" ;;
  --docs) packages="$packages $docs_packages" ;;
  --package) packages="$packages $package_tools" ;;
  *)
    echo "usage: $0 [--demo | --bench | --test | --docs | --package]" >&2
    exit 64
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "This is no Debian system. Install what your system calls these packages:" $packages >&2
  exit 69
fi

# The headers of libcurl with another TLS library will do as well, and two such packages cannot be installed together.
for other in libcurl4-gnutls-dev libcurl4-nss-dev; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' $other 2>/dev/null || true)" != installed ] ||
    packages=$(echo "$packages" | sed 's/libcurl4-openssl-dev//')
done

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
# Downloads packages of Python's index, in versions that work on Debian 12 and 13, into a folder that gets its final name
# when it is complete.
get_python() {
  folder="$(dirname "$0")/../.build/$1"
  purpose=$2
  shift 2
  [ ! -d "$folder" ] || return 0
  mkdir -p "$(dirname "$folder")"
  rm -rf "$folder.part"
  /usr/bin/python3 -m pip --quiet --disable-pip-version-check --retries 1 install --no-compile --target "$folder.part" \
    "$@" && mv "$folder.part" "$folder" && return 0
  rm -rf "$folder.part"
  echo "$* could not be downloaded: $purpose will be skipped." >&2
}
get_python_for_tests() {
  get_python pyside6 "the test of the example for Qt" PySide6_Essentials==6.12.0
  get_python aiortc "the tests of calls with aiortc" aiortc==1.16.0
}

if [ -z "$missing" ]; then
  [ "${1:-}" != --test ] || get_python_for_tests
  exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "These Debian packages are missing; run as root: apt-get install$missing" >&2
    exit 69
  fi
  as_root=sudo
fi

echo "Installing Debian packages, which may take some minutes:$missing"
export DEBIAN_FRONTEND=noninteractive
# What apt-get says of every package is shown only when it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
  </dev/null >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  echo "apt-get could not install the packages; its last lines are above." >&2
  exit 69
}
[ "${1:-}" != --test ] || get_python_for_tests
