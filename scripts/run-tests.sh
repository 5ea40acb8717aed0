#!/usr/bin/env bash
# Builds and runs the tests. The arguments are options of "swift test". Most tests wait for programs and display
# servers, so two processes share the tests, unless --filter selects some. Each test is run by one of the two: the first
# process runs the suites below, which take about half of the time, and the second runs all others. At the end the
# script repeats what has failed, because the output of all tests is long, and CI's pages keep its end.
set -uo pipefail
swift=${SWIFT:-swift}
options=("$@")
first='\.(DesktopTests|PaintableTests|ToolkitTests|DisplayDeathTests|DisplayReturnTests|PlayerTests|GNOMETests'
first+='|PictureInPictureWindowTests|X11WindowTests|WaylandPixelTests|WaylandScaleTests|WindowPixelTests'
first+='|HostProgramTests|BackgroundDecodingWindowTests)/'

# With a sanitizer most suites of the first process are disabled, because no program loads a plugin that has one. What
# compares documents with sources is left out: it has no threads or memory of PipSink's to watch, and takes ten times as
# long.
skipped=''
if [[ " ${options[*]} " == *" --sanitize="* ]]; then
  first="${first%)/}|BadInputTests|BenchTests|OutputTests|PipelineFileTests|PlayTests)/"
  skipped='\.(ArchitectureTests|BenchResultTests|DocumentTests|DocumentationTests|FeatureTests|FolderTests'
  skipped+='|InstallTests|ManualTests|ReadmeTests|SymbolTests)/'
fi

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Prints what has failed according to the logs, and exits with the given status.
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

# Everything is built, so that the two processes need not wait for each other's lock.
run() { "$swift" test --skip-build --ignore-lock "${options[@]}" "$@" 2>&1; }
run --filter "$first" >"$logs/first" &
process=$!
trap 'kill "$process" 2>/dev/null; rm -rf "$logs"' EXIT
run --skip "$first" ${skipped:+--skip "$skipped"} | tee "$logs/second"
status=${PIPESTATUS[0]}
wait "$process"
other=$?
cat "$logs/first"
# Both processes must have run some tests.
grep -h 'Test run with' "$logs/first" "$logs/second"
(($(grep -lE 'Test run with [1-9]' "$logs/first" "$logs/second" | wc -l) == 2)) || finish 1
finish $((status != 0 ? status : other))
