#!/bin/sh
# Builds the library's reference and articles as a static site. Needs no network. Fails on a warning, on a link to
# nothing, and on a fault in a manual page.
#   build-docs.sh FOLDER [PATH]
# PATH is where the site will be on its server, such as pipsink; its root by default.
set -eu

folder=$1
base=${2:-}
modules="PipSink PipSinkWindows PipSinkGTK PipSinkGTK4 PipSinkDBus PipSinkCalls GstPipSink"
rm -rf "$folder"
mkdir -p "$folder/graphs" "$folder/site"
folder=$(cd "$folder" && pwd)

# The modules as every other build makes them.
swift=${SWIFT:-swift}
for module in $modules; do "$swift" build --target "$module"; done
build=$("$swift" build --show-bin-path)
maps="CCurl CGIO CGL CGStreamer CLibYUV CGTK CWebRTC CWindows"
libraries="gstreamer-app-1.0 gstreamer-video-1.0 gstreamer-pbutils-1.0 gtk+-3.0 xcb xkbcommon xkbcommon-x11 cairo
  pangocairo"
options=""
for map in $maps; do options="$options -Xcc -fmodule-map-file=$PWD/Sources/$map/module.modulemap"; done
numerics=.build/checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap
options="$options -Xcc -fmodule-map-file=$PWD/$numerics"
# shellcheck disable=SC2086
for flag in $(pkg-config --cflags-only-I $libraries); do options="$options -Xcc $flag"; done
target=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
for module in $modules; do
  # shellcheck disable=SC2086
  swift-symbolgraph-extract -module-name "$module" -target "$target" -I "$build/Modules" -minimum-access-level public \
    -skip-synthesized-members -module-cache-path "$folder/cache" -output-dir "$folder/graphs" $options
done
/usr/bin/python3 scripts/point-to-modules.py "$folder/graphs"

docc convert Sources/PipSink/PipSink.docc --additional-symbol-graph-dir "$folder/graphs" \
  --output-dir "$folder/site" --fallback-display-name PipSink --fallback-bundle-identifier pipsink \
  --transform-for-static-hosting ${base:+--hosting-base-path "$base"} >"$folder/log" 2>&1 || {
  cat "$folder/log" >&2
  exit 1
}
if grep -E "^(warning|error):" "$folder/log"; then
  echo "the documentation has warnings; see $folder/log" >&2
  exit 1
fi
for page in docs/*.[1-9]; do mandoc -T lint -W warning "$page"; done
rm -rf "$folder/cache"
echo "To look at the reference: python3 -m http.server -d $folder/site; it is at /documentation."
