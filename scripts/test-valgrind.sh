#!/usr/bin/env bash
# Runs the elements in gst-launch-1.0 under valgrind's memcheck, without a display, with and without processors. It
# exits with 0 if valgrind finds no error of PipSink, and with 1 otherwise.
#
#   test-valgrind.sh [CONFIGURATION]
#
# CONFIGURATION is the build configuration of the plugin. The default is release, because errors that an optimizing
# compiler causes are only visible there.
#
# The suppressions are GLib's, if libglib2.0-dev has them, and those in scripts/valgrind.suppressions. Errors of other
# libraries are removed afterwards by scripts/valgrind-errors.py, which describes how.
set -euo pipefail
configuration=${1:-release}
cd "$(dirname "$0")/.."

"${SWIFT:-swift}" build -c "$configuration" --product gstpipsink
products=$("${SWIFT:-swift}" build -c "$configuration" --show-bin-path)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/plugins"
ln -s "$products/libgstpipsink.so" "$folder/plugins/"

# Orc's generated code has no function names for valgrind, and GLib's slice allocator hides uses of freed memory.
export GST_PLUGIN_PATH=$folder/plugins GST_REGISTRY=$folder/registry.bin ORC_CODE=backup G_SLICE=always-malloc G_DEBUG=gc-friendly
export SWIFT_BACKTRACE=enable=no
unset DISPLAY WAYLAND_DISPLAY
options=(--tool=memcheck --leak-check=no --show-leak-kinds=none --expensive-definedness-checks=yes --track-origins=yes)
options+=(--num-callers=200 --error-limit=no --error-exitcode=99)
for file in /usr/share/glib-2.0/valgrind/glib.supp scripts/valgrind.suppressions; do
  [ ! -f "$file" ] || options+=(--suppressions="$file")
done
# The registry is made without valgrind, under which inspecting every plugin takes minutes.
gst-inspect-1.0 pipsink >/dev/null

failed=0
number=0
run() {
  number=$((number + 1))
  local log=$folder/$number.xml status=0
  # shellcheck disable=SC2086
  echo gst-launch-1.0 $1
  # shellcheck disable=SC2086
  valgrind "${options[@]}" --xml=yes --xml-file="$log" gst-launch-1.0 -q $1 >"$folder/output" 2>&1 || status=$?
  if [ "$status" -ne 0 ] && [ "$status" -ne 99 ]; then
    cat "$folder/output"
    echo "gst-launch-1.0 ended with $status"
    failed=1
  fi
  python3 scripts/valgrind-errors.py "$log" || failed=1
}

# Each run has several streams, because the start of a run takes long.
stream() {
  echo "videotestsrc num-buffers=12 ! video/x-raw,width=102,height=66,format=$1" \
    "! pipsink surface=offscreen sync=false stream-id=$2 session=$2 ${*:3}"
}
run "$(stream I420 a) $(stream NV12 b mode=pip) $(stream P010_10LE c mode=pip) $(stream RGB d)"
run "$(stream I420 a mode=pip process=grayscale) $(stream NV12 b process=grayscale,rotate:90,mirror:horizontal)
  $(stream P010_10LE c process=grayscale) $(stream YUY2 d mode=pip process=nv12,mirror:vertical)
  $(stream BGRA e process=grayscale,rotate:180 rate-limit=500)"
# The filter runs before elements that read GstVideoMeta, and before elements that do not.
filter() {
  echo "videotestsrc num-buffers=12 ! video/x-raw,width=102,height=66,format=$1 ! pipsinkfilter process=$2 ! $3"
}
run "$(filter I420 grayscale "x264enc ! fakesink") $(filter I420 grayscale,rotate:90 fakesink)
  $(filter BGRA format:NV12,mirror:vertical "pipsink surface=none sync=false") $(filter YUY2 decimate:3 fakesink)"
exit "$failed"
