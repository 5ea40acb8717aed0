#!/usr/bin/env bash
# Builds the tests with the options of "swift test" that are given, and runs them. Most tests wait for programs and
# display servers, so two processes share them, where nobody asks for certain ones by --filter. Each test is run by one
# of the two: the first has the suites that are named here, which take about half of the time, the second all others.
# At the end it says once more what has failed: the output of so many tests is long, and CI's pages keep the end of it.
set -uo pipefail
swift=${SWIFT:-swift}
options=("$@")
first='\.(DesktopTests|PaintableTests|ToolkitTests|DisplayDeathTests|DisplayReturnTests|PlayerTests|GNOMETests'
first+='|PictureInPictureWindowTests|X11WindowTests|WaylandPixelTests|WaylandScaleTests|WindowPixelTests'
first+='|HostProgramTests|BackgroundDecodingWindowTests)/'

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Says what has failed in a log, and ends with the status that it is given.
finish() {
  local status=$1
  if ((status != 0)); then
    printf '\nThe tests ended with %d. What failed:\n' "$status"
    grep -hE '✘|^ *↳|SUMMARY: |WARNING: ThreadSanitizer|ERROR: AddressSanitizer|Fatal error|error: ' "$logs"/* |
      tail -n 60
  fi
  exit "$status"
}

if [[ " ${options[*]} " == *" --filter "* || -n ${PIPSINK_COST_TESTS:-} ]]; then
  "$swift" test "${options[@]}" 2>&1 | tee "$logs/all"
  finish "${PIPESTATUS[0]}"
fi

build_options=()
for option in "${options[@]}"; do [[ $option == --no-parallel ]] || build_options+=("$option"); done
"$swift" build --build-tests "${build_options[@]}" 2>&1 | tee "$logs/build"
((PIPESTATUS[0] == 0)) || finish 1

# Nothing is built any more, so that the two need not wait for each other.
run() { "$swift" test --skip-build --ignore-lock "${options[@]}" "$@" 2>&1; }
run --filter "$first" >"$logs/first" &
process=$!
trap 'kill "$process" 2>/dev/null; rm -rf "$logs"' EXIT
run --skip "$first" | tee "$logs/second"
status=${PIPESTATUS[0]}
wait "$process"
other=$?
cat "$logs/first"
# Both have to have run something.
grep -h 'Test run with' "$logs/first" "$logs/second"
(($(grep -lE 'Test run with [1-9]' "$logs/first" "$logs/second" | wc -l) == 2)) || finish 1
finish $((status != 0 ? status : other))
