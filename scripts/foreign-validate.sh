#!/usr/bin/env bash
# Plays files in gst-validate's scenarios with the element and with ximagesink, and shows which scenarios pass.
# test-foreign.sh runs it with a display and the plugin's path. docs/foreign-suites.md has the table.
#
#   foreign-validate.sh FOLDER VERSION
#
# Debian has no gst-validate, so the script builds the one of VERSION in FOLDER, from the sources of gst-devtools in the
# folder GST_DEVTOOLS or from GStreamer's server. It needs meson, ninja and json-glib's headers. VALIDATE_SCENARIOS can
# name the scenarios to run; the default is all. The script exits with 1 if the element fails a scenario that ximagesink
# passes.
set -euo pipefail
folder=$1/validate version=$2
mkdir -p "$folder"

if [ ! -x "$folder/prefix/bin/gst-validate-1.0" ]; then
  if ! command -v meson >/dev/null || ! command -v ninja >/dev/null || ! pkg-config --exists json-glib-1.0; then
    echo "gst-validate is built by meson and ninja, with json-glib-1.0: apt-get install meson ninja-build libjson-glib-dev" >&2
    exit 2
  fi
  sources=${GST_DEVTOOLS:-$folder/sources}
  if [ ! -e "$sources/meson.build" ]; then
    archive=gst-devtools-$version.tar.xz
    curl -fsSL -o "$folder/$archive" "https://gstreamer.freedesktop.org/src/gst-devtools/$archive"
    mkdir -p "$sources"
    tar -xf "$folder/$archive" -C "$sources" --strip-components=1
  fi
  rm -rf "$folder/build"
  meson setup "$folder/build" "$sources" --prefix="$folder/prefix" --libdir=lib -Dauto_features=disabled \
    -Dvalidate=enabled -Dtools=enabled >"$folder/meson.log"
  ninja -j "${JOBS:-$(nproc)}" -C "$folder/build" install >"$folder/ninja.log"
  # Meson installs only some of the scenarios.
  cp -r "$sources/validate/data/scenarios" "$folder/"
fi
export LD_LIBRARY_PATH=$folder/prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_VALIDATE_SCENARIOS_PATH=$folder/scenarios

# The files show a moving ball for twenty seconds, or for eight minutes where scenarios need that. There is one with
# frames that depend on earlier ones, one with independent pictures, and one with two audio and two subtitle tracks.
video="videotestsrc num-buffers=600 pattern=ball ! video/x-raw,width=320,height=240,framerate=30/1 ! timeoverlay"
sound="audiotestsrc num-buffers=862 samplesperbuffer=1024 ! audio/x-raw,rate=44100,channels=2"
long_video="videotestsrc num-buffers=4800 pattern=ball ! video/x-raw,width=160,height=120,framerate=10/1"
long_sound="audiotestsrc num-buffers=3750 samplesperbuffer=1024 ! audio/x-raw,rate=8000,channels=1"
vp8="vp8enc deadline=1 cpu-used=8 keyframe-max-dist=30"
make_file() {
  # shellcheck disable=SC2086
  [ -s "$folder/$1" ] || { gst-launch-1.0 -q ${*:2} ! filesink location="$folder/$1.part" && mv "$folder/$1.part" "$folder/$1"; }
}
for second in $(seq 10 29); do printf '%d\n00:00:%02d,000 --> 00:00:%02d,900\nline %d\n\n' $((second - 9)) $((second - 10)) \
  $((second - 10)) $((second - 9)); done >"$folder/lines.srt"
make_file vp8.webm "$video ! $vp8 ! queue ! m. $sound ! vorbisenc ! queue ! m. webmmux name=m"
make_file mjpeg.avi "$video ! jpegenc ! queue ! m. $sound ! queue ! m. avimux name=m"
make_file long.webm "$long_video ! $vp8 ! queue ! m. $long_sound ! vorbisenc ! queue ! m. webmmux name=m"
make_file long.avi "$long_video ! jpegenc ! queue ! m. $long_sound ! queue ! m. avimux name=m"
text="filesrc location=$folder/lines.srt ! subparse ! queue ! m."
make_file tracks.mkv "$video ! $vp8 ! queue ! m. $sound ! vorbisenc ! queue ! m. $sound ! vorbisenc ! queue ! m. $text $text
  matroskamux name=m"

played="play_15s pause_resume seek_forward seek_backward seek_with_stop simple_seeks
  scrub_forward_seeking scrub_backward_seeking scrub_forward_seeking_full scrub_backward_seeking_full
  fast_forward fast_backward reverse_playback trick_mode_seeks
  update_start update_stop"
switched="switch_audio_track switch_audio_track_while_paused switch_subtitle_track switch_subtitle_track_while_paused
  disable_subtitle_track_while_paused"
long="seek_forward_backward alternate_fast_backward_forward"

# Runs a scenario with a sink, and writes whether it passes. gst-validate also fails when it finds a critical issue.
validate() { # SCENARIO PLAYER FILE SINK
  local log=$folder/$1-$2-$3-$4.log
  local pipeline=(playbin "uri=file://$folder/$3" "video-sink=$4" "audio-sink=fakesink sync=true")
  [ "$2" = playbin ] || pipeline=(filesrc "location=$folder/$3" ! decodebin ! videoconvert ! "$4")
  if timeout 120 "$folder/prefix/bin/gst-validate-1.0" --set-scenario "$1" "${pipeline[@]}" >"$log" 2>&1; then
    echo passed
  else
    echo "failed ($?)"
  fi >"$log.verdict"
}

failed=0
compare() { # PLAYER FILE SCENARIO...
  local player=$1 file=$2 scenario name sink
  declare -A passed=([pipsink]=0 [ximagesink]=0)
  local texts=""
  shift 2
  # The programs of both sinks run at the same time, each with a window of its own.
  for scenario; do
    for sink in pipsink ximagesink; do validate "$scenario" "$player" "$file" "$sink" & done
    wait
    for sink in pipsink ximagesink; do
      name=$folder/$scenario-$player-$file-$sink.log
      if [ "$(<"$name.verdict")" = passed ]; then passed[$sink]=$((passed[$sink] + 1)); continue; fi
      texts+="  $scenario, $sink: $(<"$name.verdict"), $(grep -m 1 -E 'critical :|ERROR|Failed|timed' "$name" | tr -s ' ' || true)"$'\n'
      [ "$sink" = ximagesink ] || [ "$(<"${name%pipsink.log}ximagesink.log.verdict")" != passed ] || failed=1
    done
  done
  echo "gst-validate $version, $player, $file: ${passed[pipsink]} of $# passed; ximagesink ${passed[ximagesink]} of $#"
  printf %s "$texts"
  # If ximagesink passes no scenario, something else is wrong.
  [ "${passed[ximagesink]}" -gt 0 ] || failed=1
}
# shellcheck disable=SC2086
if [ -n "${VALIDATE_SCENARIOS:-}" ]; then
  for file in vp8.webm mjpeg.avi; do compare playbin $file $VALIDATE_SCENARIOS; done
else
  # change_state_intensive stops and restarts the pipeline, which one of gst_parse_launch with decodebin cannot do.
  for file in vp8.webm mjpeg.avi; do
    compare playbin $file $played change_state_intensive
    compare decodebin $file $played
  done
  for file in long.webm long.avi; do
    for player in playbin decodebin; do compare $player $file $long; done
  done
  compare playbin tracks.mkv $switched
fi
exit "$failed"
