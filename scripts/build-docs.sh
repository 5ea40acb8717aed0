#!/bin/sh
# Builds the library's documentation as a static site. Needs no network. Fails on every warning but one: that a parameter
# is not described, since those that are plain are left out on purpose.
#   build-docs.sh FOLDER
set -eu

folder=$1
mkdir -p "$folder/all" "$folder/graphs"
folder=$(cd "$folder" && pwd)
${SWIFT:-swift} build --scratch-path "$folder" --target PipSink -Xswiftc -emit-symbol-graph \
  -Xswiftc -emit-symbol-graph-dir -Xswiftc "$folder/all" \
  -Xswiftc -symbol-graph-minimum-access-level -Xswiftc public
# Of the library alone, not of what it uses.
cp "$folder/all/PipSink.symbols.json" "$folder/graphs/"
docc convert Sources/PipSink/PipSink.docc --additional-symbol-graph-dir "$folder/graphs" --output-dir "$folder/site" \
  --fallback-display-name PipSink --fallback-bundle-identifier pipsink >"$folder/log" 2>&1 || {
  cat "$folder/log" >&2
  exit 1
}
if grep -E "^(warning|error):" "$folder/log" | grep -v "is missing documentation$"; then
  echo "the documentation has warnings; see $folder/log" >&2
  exit 1
fi
echo "The documentation is in $folder/site."
