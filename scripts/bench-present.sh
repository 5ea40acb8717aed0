#!/bin/bash
# Processor time for showing 1080p30 in a window: PipSink's beside that of "videoscale ! videoconvert ! ximagesink", in one run.
# Counts what all threads of the program and of the X server use while pictures flow, in nanoseconds as the kernel's scheduler has them,
# less what the source alone takes, and prints the ratio for each window size: medians of interleaved rounds.
# Uses an X server of its own without a screen. Arguments: the demo program, the seconds a measurement (6), and the rounds (5).
set -eu

demo=${1:?usage: $0 DEMO [SECONDS] [ROUNDS]}
seconds=${2:-6}
rounds=${3:-5}
rate=30
state=$(mktemp -d)
exec 3<>"$state/display"
Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp -noreset 3>"$state/display" 2>/dev/null &
server=$!
disown $server
program=
trap 'kill -9 $program $server 2>/dev/null; rm -rf "$state"' EXIT
until [ -s "$state/display" ]; do kill -0 $server; sleep 0.05; done
export DISPLAY=":$(cat "$state/display")" GDK_BACKEND=x11 XDG_STATE_HOME="$state" NO_AT_BRIDGE=1
unset WAYLAND_DISPLAY

# One picture again and again, which costs next to nothing to make.
source="videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=1920,height=1080,framerate=$rate/1 ! imagefreeze"
source="$source ! video/x-raw,framerate=$rate/1"

# Nanoseconds that the threads of the program and of the server have used so far.
used() { cat /proc/$program/task/*/schedstat /proc/$server/task/*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum }'; }

# Milliseconds a frame of the program that the words describe.
measure() {
  local before after
  "$@" >"$state/output" 2>&1 &
  program=$!
  sleep 2
  before=$(used)
  sleep "$seconds"
  after=$(used)
  kill -0 $program 2>/dev/null || { cat "$state/output" >&2; exit 1; }
  { kill -9 $program && wait $program; } 2>/dev/null || true
  awk -v ns=$((after - before)) -v frames=$((seconds * rate)) 'BEGIN { printf "%.3f\n", ns / 1e6 / frames }'
}

median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
spread() { sort -n "$1" | awk 'NR == 1 { low = $1 } { high = $1 } END { printf "%.3f to %.3f", low, high }'; }

sizes="320x180 1280x720"
for round in $(seq "$rounds"); do
  measure gst-launch-1.0 -q $source ! fakesink sync=true >>"$state/base"
  for size in $sizes; do
    measure gst-launch-1.0 -q $source ! videoscale ! videoconvert ! \
      "video/x-raw,width=${size%x*},height=${size#*x}" ! ximagesink >>"$state/theirs-$size"
    measure "$demo" play "$source ! appsink name=a" --surface window --window-size "$size" >>"$state/ours-$size"
  done
done

base=$(median "$state/base")
echo "1080p$rate I420, $rounds rounds of $seconds s: ms of processor time a frame (program and X server) beyond the source's $base"
echo "window     PipSink  videoscale ! videoconvert ! ximagesink  ratio  (with the source: PipSink, the other)"
for size in $sizes; do
  awk -v size="$size" -v ours="$(median "$state/ours-$size")" -v theirs="$(median "$state/theirs-$size")" -v base="$base" \
    -v from="$(spread "$state/ours-$size"), $(spread "$state/theirs-$size")" \
    'BEGIN { o = ours - base; t = theirs - base; printf "%-10s %7.3f  %38.3f  %5.2f  (%s)\n", size, o, t, o / t, from }'
done
