#!/bin/sh
# Builds the Debian package of what "make install" has put into a folder.
#   make-deb.sh FOLDER VERSION OUTPUT
set -eu

stage=$1
version=$2
output=$3

if ! command -v dpkg-shlibdeps >/dev/null 2>&1; then
  echo "dpkg-shlibdeps is missing: apt-get install dpkg-dev" >&2
  exit 69
fi

# Which packages have the libraries that the program and the plugin are linked with.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
echo "Source: pipsink" >"$work/debian/control"
stage=$(cd "$stage" && pwd)
libraries=$(cd "$work" && find "$stage/usr/bin" "$stage/usr/lib" -type f -exec dpkg-shlibdeps -O {} + | sed -n 's/^shlibs:Depends=//p')

mkdir -p "$stage/DEBIAN"
cat >"$stage/DEBIAN/control" <<END
Package: pipsink
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: PipSink's authors <pipsink@localhost>
Section: video
Priority: optional
Installed-Size: $(du -sk "$stage/usr" | cut -f1)
Depends: $libraries
Recommends: gstreamer1.0-tools, gstreamer1.0-plugins-base, gstreamer1.0-plugins-good
Description: picture-in-picture for GStreamer
 The GStreamer element pipsink shows video streams in a window of an application
 or in a picture-in-picture window that stays above all others, on X11 and
 Wayland. The program pipsink-demo plays pipelines with it.
END
(cd "$stage" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
chmod -R u+rwX,go+rX,go-w "$stage"
dpkg-deb --root-owner-group --build "$stage" "$output"
