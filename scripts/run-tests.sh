#!/usr/bin/env bash
# Builds and runs the tests. The arguments are options of "swift test". Most tests wait for programs and display
# servers, so three processes share the tests, unless --filter selects some. Each test is run by one of them: the first
# two run the suites below, and the last one runs all others. They take about as long as each other, with a sanitizer
# (where many suites of windows are disabled, because no program loads a plugin that has one) and without. At the end
# the script repeats what has failed, because the output of all tests is long, and CI's pages keep its end. A process
# that does not end is ended after PIPSINK_TEST_MINUTES, and the script says which of its tests had not. The command in
# PIPSINK_BESIDE runs beside all that, and what it prints about tests counts, too.
set -uo pipefail
swift=${SWIFT:-swift}
beside=${PIPSINK_BESIDE:-}
unset PIPSINK_BESIDE
minutes=${PIPSINK_TEST_MINUTES:-25}
options=("$@")
lanes=(
  'DesktopTests|PaintableTests|DisplayDeathTests|PlayTests|BadInputTests|RoughInputTests|GNOMETests|WaylandScaleTests'
  'ToolkitTests|PipelineFileTests|OutputTests|BenchTests|PictureInPictureWindowTests|PluginTests|AudioServerTests'
)
lanes[0]+='|X11WindowTests|WaylandPixelTests|WindowPixelTests|BackgroundDecodingWindowTests|HostProgramTests|DBusTests'
lanes[1]+='|PlayerTests|DisplayReturnTests|BlockedPipelineTests|BlockedRunTests|OutcomeTests'
lanes[1]+='|PictureInPictureViewTests|TransitionTests|WindowManagerTests'
lanes[0]+='|ServerSilenceTests|UserThroughWindowManagerTests'

# A sanitizer slows the tests down, so it watches what has threads or memory of PipSink's. What compares documents with
# sources, or tests how options are read, has neither. What computes pixels, or measures, has no threads that work
# together.
skipped=''
if [[ " ${options[*]} " == *" --sanitize="* ]]; then
  skipped='ArchitectureTests|BenchResultTests|ByteTextTests|DocumentTests|DocumentationTests|FeatureTests|FolderTests'
  skipped+='|InstallTests|InterfaceTests|ManualTests|NounTests|NumberTests|OptionValueTests|ReadmeTests|SymbolTests'
fi
if [[ " ${options[*]} " == *" --sanitize=thread "* ]]; then
  skipped+='|BenchTests|ColorMatrixTests|ConversionFuzzTests|KernelSweepTests|PixelConverterTests|TwoThirdsTests'
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Prints the tests that have begun and not ended according to a log.
unfinished() {
  sed -nE '/^. Test case passing /d; s/^. Test (.*\)) started\.$/+ \1/p
    s/^. Test (.*\)) (with [0-9]+ test cases? )?(passed|failed) after .*/- \1/p' "$1" |
    awk '{ name = substr($0, 3) } /^\+/ { open[name]++ } /^-/ { open[name]-- }
      END { for (name in open) if (open[name] > 0) print "  " name }' | sort
}

# Prints what has failed according to the logs, and exits with the given status.
finish() {
  local status=$1 log
  if [[ -n ${beside_process:-} ]]; then
    wait "$beside_process" || status=$?
    cat "$logs/beside"
  fi
  for log in "$logs"/*; do
    if [[ $log != */build ]] && ! grep -q 'Test run with' "$log"; then
      printf '\nA process with tests has not come to its end. These tests had not either:\n'
      unfinished "$log"
    fi
  done
  if ((status != 0)); then
    printf '\nThe tests ended with %d. What failed:\n' "$status"
    grep -hE '✘|^ *↳|SUMMARY: |WARNING: ThreadSanitizer|ERROR: AddressSanitizer|Fatal error|error: ' "$logs"/* |
      grep -v '^ALSA lib ' | tail -n 60
  fi
  exit "$status"
}

if [[ " ${options[*]} " == *" --filter "* || -n ${PIPSINK_TESTS:-} ]]; then
  "$swift" test "${options[@]}" 2>&1 | tee "$logs/all"
  finish "${PIPESTATUS[0]}"
fi

if [[ -n $beside ]]; then
  bash -c "$beside" >"$logs/beside" 2>&1 &
  beside_process=$!
fi

build_options=()
for option in "${options[@]}"; do [[ $option == --no-parallel ]] || build_options+=("$option"); done
"$swift" build --build-tests "${build_options[@]}" 2>&1 | tee "$logs/build"
((PIPESTATUS[0] == 0)) || finish 1

# Everything is built, so that the processes need not wait for each other's lock.
run() { timeout --kill-after=10 "${minutes}m" "$swift" test --skip-build --ignore-lock "${options[@]}" "$@" 2>&1; }
processes=()
for index in "${!lanes[@]}"; do
  run --filter "\.(${lanes[index]})/" ${skipped:+--skip "\.($skipped)/"} >"$logs/$index" &
  processes+=($!)
done
trap 'kill "${processes[@]}" 2>/dev/null; rm -rf "$logs"' EXIT
others=$(IFS='|' && echo "${lanes[*]}")
run --skip "\.($others${skipped:+|$skipped})/" | tee "$logs/others"
status=${PIPESTATUS[0]}
for index in "${!lanes[@]}"; do
  wait "${processes[index]}" || status=$?
  cat "$logs/$index"
done
# Each process must have run some tests.
grep -h 'Test run with' "$logs"/{others,[0-9]*}
(($(grep -lE 'Test run with [1-9]' "$logs"/{others,[0-9]*} | wc -l) == ${#lanes[@]} + 1)) || finish 1
finish "$status"
