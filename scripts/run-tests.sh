#!/usr/bin/env bash
# `swift test`, which says at the end once more what has failed: the output of several hundred tests is long, and CI's
# pages keep the end of it.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${SWIFT:-swift}" test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if ((status != 0)); then
  printf '\nswift test ended with %d. What failed:\n' "$status"
  grep -E '✘|^ *↳|SUMMARY: |WARNING: ThreadSanitizer|ERROR: AddressSanitizer|Fatal error|error: ' "$log" | tail -n 60
fi
exit "$status"
