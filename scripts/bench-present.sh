#!/bin/bash
# Processor time for showing 1080p30 in a window: PipSink's beside that of "videoscale ! videoconvert ! ximagesink", in one run.
# Counts the program's and the X server's time for each frame beyond the first, less what the source alone takes, and prints
# the ratio for each window size.
# Uses an X server of its own without a screen. Arguments: the demo program, and the frames a measurement (300).
set -eu

demo=${1:?usage: $0 DEMO [FRAMES]}
frames=${2:-450}
few=30
state=$(mktemp -d)
exec 3<>"$state/display"
Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp -noreset 3>"$state/display" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$state"' EXIT
until [ -s "$state/display" ]; do kill -0 $server; sleep 0.05; done
export DISPLAY=":$(cat "$state/display")" GDK_BACKEND=x11 XDG_STATE_HOME="$state" NO_AT_BRIDGE=1
unset WAYLAND_DISPLAY

# Processor time of the X server, in ticks.
server_ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }

# Milliseconds of processor time that a program, which the words describe, and the X server took. SOURCE becomes so many frames:
# one picture, again and again, which costs next to nothing to make.
total() {
  local count=$1 before after source word words=()
  shift
  source="videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
  source="$source ! imagefreeze num-buffers=$count ! video/x-raw,framerate=30/1"
  for word in "$@"; do
    # gst-launch takes words, the demo takes a string.
    if [ "$word" = SOURCE ]; then read -ra word <<<"$source"; words+=("${word[@]}"); else words+=("${word/SOURCE/$source}"); fi
  done
  before=$(server_ticks)
  TIMEFORMAT='%U %S'
  { time "${words[@]}" >"$state/output" 2>&1 || { cat "$state/output" >&2; exit 1; }; } 2>"$state/time"
  after=$(server_ticks)
  awk -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" '{ print ($1 + $2 + ticks / hertz) * 1000 }' "$state/time"
}

# The same for one frame more: what starting costs is in both runs.
measure() {
  awk -v all="$(total $((frames + few)) "$@")" -v some="$(total $few "$@")" -v frames="$frames" \
    'BEGIN { printf "%.3f\n", (all - some) / frames }'
}

base=$(measure gst-launch-1.0 -q SOURCE ! fakesink sync=true)
echo "1080p30 I420, $frames frames, ms of processor time a frame (program and X server) beyond the source's $base"
echo "window     PipSink  videoscale ! videoconvert ! ximagesink  ratio"
for size in 320x180 1280x720; do
  width=${size%x*}
  height=${size#*x}
  theirs=$(measure gst-launch-1.0 -q SOURCE ! videoscale ! videoconvert ! "video/x-raw,width=$width,height=$height" ! ximagesink)
  ours=$(measure "$demo" play "SOURCE ! appsink name=a" --surface window --window-size "$size")
  awk -v size="$size" -v ours="$ours" -v theirs="$theirs" -v base="$base" \
    'BEGIN { o = ours - base; t = theirs - base; printf "%-10s %7.3f  %38.3f  %5.2f\n", size, o, t, o / t }'
done
