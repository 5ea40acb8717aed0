#!/usr/bin/env bash
# Makes docs/images/desktop.png and desktop.gif: a picture-in-picture window of the demo above a window that looks like a
# browser, on Xvfb with openbox.
#   make-desktop.sh PIPSINK-DEMO
set -euo pipefail
demo=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d)
processes=()
finish() {
  kill "${processes[@]}" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset >"$folder/display" 2>/dev/null &
processes+=($!)
until [ -s "$folder/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$folder/display")
export DISPLAY GDK_BACKEND=x11 NO_AT_BRIDGE=1 XDG_STATE_HOME=$folder
xsetroot -solid "#30506e"
openbox --sm-disable &
processes+=($!)
sleep 1

# The call: what the demo shows of its streams, in a window that goes to the background.
"$demo" play \
  "videotestsrc is-live=true pattern=ball background-color=0xff1f6f54 foreground-color=0xfff2d16b
     ! video/x-raw,width=640,height=360,framerate=30/1 ! textoverlay text=Anna valignment=center font-desc=\"Sans 40\" ! appsink name=Anna
   videotestsrc is-live=true pattern=smpte ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=Ben" \
  --mode pip --pip-stream Anna --pip-size 384x216 --pip-corner bottom-right --duration 100 &
processes+=($!)
until xwininfo -name Picture-in-Picture >/dev/null 2>&1; do sleep 0.2; done
/usr/bin/python3 "$here/browser.py" &
processes+=($!)
until xwininfo -name "Reading while you listen" >/dev/null 2>&1; do sleep 0.2; done
sleep 2

place() {
  xwininfo -name Picture-in-Picture | sed -n 's/.*Absolute upper-left X: *//p; s/.*Absolute upper-left Y: *//p; s/^ *Width: //p; s/^ *Height: //p'
}
take() { import -window root "$folder/$(printf 'frame-%02d.png' "$1")"; }

read -r x y width height < <(place | xargs)
xdotool mousemove $((x + width / 2)) $((y + height / 2 + 4)) sleep 0.1 mousemove $((x + width / 2)) $((y + height / 2))
sleep 0.6
import -window root "$here/../desktop.png"

# Dragged from the lower right corner to the upper right one, and back.
number=0
move() {
  local from_x=$1 from_y=$2 to_x=$3 to_y=$4 steps=8
  xdotool mousemove "$from_x" "$from_y" mousedown 1
  for step in $(seq $steps); do
    xdotool mousemove $((from_x + (to_x - from_x) * step / steps)) $((from_y + (to_y - from_y) * step / steps))
    sleep 0.05
    take $((number++))
  done
  xdotool mouseup 1
  for _ in 1 2 3 4; do
    sleep 0.1
    take $((number++))
  done
}
middle_x=$((x + width / 2)) middle_y=$((y + height / 2))
move $middle_x $middle_y $middle_x $((middle_y - 380))
read -r x y width height < <(place | xargs)
move $((x + width / 2)) $((y + height / 2)) $middle_x $middle_y
convert -delay 15 -loop 0 "$folder"/frame-*.png -resize 480x300 +dither -colors 64 -layers optimize "$here/../desktop.gif"
convert "$here/../desktop.png" +dither -colors 200 -define png:compression-level=9 "$here/../desktop.png"
ls -l "$here/../desktop.png" "$here/../desktop.gif"
