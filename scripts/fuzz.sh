#!/usr/bin/env bash
# Builds the tests in Fuzz with libFuzzer, or runs libFuzzer on one of their targets.
#
#   fuzz.sh build            builds them, with AddressSanitizer and libFuzzer's counters, into .build/fuzz
#   fuzz.sh TARGET SECONDS   runs a target for this time on the seeds in Fuzz/seeds; findings are in .build/fuzz/findings
#   fuzz.sh TARGET FILE      runs a target once, on the bytes of a file, such as a finding
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.build/fuzz
swift=${SWIFT:-swift}

if [ "${1:-}" = build ]; then
  # libFuzzer is a part of the toolchain. The variant without a main function is used, because the tests have one.
  tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
  library=$(find "$tools/.." -name "libclang_rt.fuzzer_no_main*$(uname -m).a" -print -quit)
  [ -n "$library" ] || library=$(find "$tools/.." -path '*linux-gnu*' -name libclang_rt.fuzzer_no_main.a -print -quit)
  if [ -z "$library" ]; then
    echo "The Swift toolchain at $tools has no libFuzzer (libclang_rt.fuzzer_no_main); use one from swift.org." >&2
    exit 69
  fi
  # The tests find libFuzzer at run time, as they are also built without it.
  PIPSINK_TESTS=FuzzTests "$swift" build --product pipsinkPackageTests --scratch-path $folder \
    -Xswiftc -sanitize=address -Xswiftc -sanitize-coverage=edge,trace-cmp,pc-table,inline-8bit-counters \
    -Xlinker --undefined=LLVMFuzzerRunDriver -Xlinker --export-dynamic-symbol=LLVMFuzzerRunDriver \
    -Xlinker "$library" -Xlinker -lstdc++ 2>&1 |
    { grep -v 'Cannot export local symbol' || true; }
  exit "${PIPESTATUS[0]}"
fi

target=$1
mkdir -p "$folder/corpus/$target" "$folder/findings"
environment=(SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8)
if [ "$target" = pipeline-file ] || [ "$target" = caps ]; then
  # Only GStreamer's core elements are loaded, because the side effects of making other elements are not tested.
  plugins=$PWD/$folder/plugins
  mkdir -p "$plugins"
  ln -sf "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstcoreelements.so" "$plugins/"
  environment+=(GST_PLUGIN_SYSTEM_PATH_1_0="$plugins" GST_PLUGIN_PATH_1_0= GST_REGISTRY_1_0="$PWD/$folder/registry.bin")
fi
arguments="$target -timeout=10 -rss_limit_mb=4096 -max_len=600 -artifact_prefix=$folder/findings/$target-"
if [ -f "$2" ]; then
  arguments+=" $2"
else
  arguments+=" -max_total_time=$2 -print_final_stats=1 -verbosity=1 $folder/corpus/$target Fuzz/seeds/$target"
fi
env "${environment[@]}" PIPSINK_FUZZ_ARGUMENTS="$arguments" "$folder/debug/pipsinkPackageTests.xctest" \
  --testing-library swift-testing --filter FuzzRunTests </dev/null
