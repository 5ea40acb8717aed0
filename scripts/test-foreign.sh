#!/usr/bin/env bash
# Runs GStreamer's check suites with the element in place of the sinks that they make, and gst-validate's scenarios, and
# shows which tests pass. docs/foreign-suites.md has the table. The script needs a Debian with network, gcc and Xvfb,
# and what foreign-validate.sh needs. Sources and programs are in .build/foreign.
#
#   test-foreign.sh [SUITE...]
#
# The sources are Debian's for the version of the installed GStreamer. A video sink accepts no frames without caps, so a
# suite gets a videotestsrc where it makes a fakesrc. All tests also run with GStreamer's ximagesink: a test that
# ximagesink fails, too, is no test of a video sink. The script exits with 1 if the element fails a test that ximagesink
# passes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each entry is a source package, and a suite in its tests/check.
all_suites="
  gstreamer1.0:generic/states gstreamer1.0:generic/sinks gstreamer1.0:libs/basesink gstreamer1.0:elements/fakesink
  gstreamer1.0:gst/gstbin gstreamer1.0:gst/gstelement gstreamer1.0:gst/gstevent gstreamer1.0:gst/gstghostpad
  gstreamer1.0:gst/gstpipeline gstreamer1.0:gst/gstquery gstreamer1.0:gst/gstutils
  gstreamer1.0:pipelines/cleanup gstreamer1.0:pipelines/queue-error gstreamer1.0:pipelines/stress
  gst-plugins-base1.0:elements/glimagesink
  gst-plugins-base1.0:pipelines/capsfilter-renegotiation gst-plugins-base1.0:pipelines/basetime
  gst-validate
"
suites=${*:-$all_suites}

folder=$PWD/.build/foreign
mkdir -p "$folder/plugins" "$folder/lists/partial"
"${SWIFT:-swift}" build --product gstpipsink
ln -sf "$("${SWIFT:-swift}" build --show-bin-path)/libgstpipsink.so" "$folder/plugins/"
version=$(pkg-config --modversion gstreamer-1.0)

# Downloads Debian's sources of a package, independently of the machine's package lists.
fetch() {
  [ ! -d "$folder/$1-$version" ] || return 0
  # shellcheck disable=SC1091
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src ${MIRROR:-http://deb.debian.org/debian} $codename main" >"$folder/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$folder/lists" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$folder" && apt-get "${options[@]}" source --tar-only --download-only "$1")
  mkdir "$folder/$1-$version.part"
  tar -xf "$folder/$1_$version".orig.tar.* -C "$folder/$1-$version.part" --strip-components=1
  mv "$folder/$1-$version.part" "$folder/$1-$version"
}

# Builds the program of a suite for a sink.
build() {
  local source=$folder/$1-$version/tests/check/$2.c program=$folder/$(basename "$2")-$3
  # Names are replaced in string literals only. generic/states tests all elements of PACKAGE, which it finds in the
  # registry.
  local change='s/"(?:[^"\\]|\\.)*"/$_ = $&; s!\b(fake|fakevideo|glimage)sink\b!$ENV{SINK}!g; s!\bfakesrc\b!videotestsrc!g; $_/ge'
  [ "$2" != generic/states ] || change=
  SINK=$3 perl -0pe "$change" "$source" >"$program.c"
  # shellcheck disable=SC2046
  gcc -w -g -I"$(dirname "$source")" -o "$program" "$program.c" \
    -DPACKAGE='"pipsink"' -DPACKAGE_NAME='"pipsink"' -DVERSION="\"$version\"" -DGST_LICENSE='"LGPL"' \
    -DGST_PACKAGE_NAME='"GStreamer"' -DGST_PACKAGE_ORIGIN='"GStreamer"' \
    $(pkg-config --cflags --libs gstreamer-check-1.0 gstreamer-base-1.0 gstreamer-video-1.0 gstreamer-app-1.0 \
      gstreamer-controller-1.0)
}

export GST_PLUGIN_PATH=$folder/plugins GST_REGISTRY=$folder/registry.bin GST_STATE_IGNORE_ELEMENTS=""
export CK_DEFAULT_TIMEOUT=20 SWIFT_BACKTRACE=enable=no
unset WAYLAND_DISPLAY
rm -f "$folder/display"
Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp -noreset 3>"$folder/display" 2>/dev/null &
server=$!
trap 'kill $server' EXIT
while [ ! -s "$folder/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$folder/display")
export DISPLAY
# If neither sink could show anything, the comparison would be meaningless.
for sink in pipsink ximagesink; do gst-launch-1.0 -q videotestsrc num-buffers=2 ! "$sink"; done

failed=0
for suite in $suites; do
  if [ "$suite" = gst-validate ]; then
    scripts/foreign-validate.sh "$folder" "$version" || failed=1
    continue
  fi
  package=${suite%%:*} name=${suite#*:}
  fetch "$package"
  for sink in pipsink ximagesink; do
    build "$package" "$name" "$sink"
    log=$folder/$(basename "$name")-$sink.log
    timeout 300 "$folder/$(basename "$name")-$sink" >"$log" 2>&1 || true
  done
  python3 scripts/foreign-results.py "$package $version: $name" \
    "$folder/$(basename "$name")-pipsink.log" "$folder/$(basename "$name")-ximagesink.log" || failed=1
done
exit "$failed"
