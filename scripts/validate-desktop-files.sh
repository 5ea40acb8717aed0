#!/bin/sh
# Validates desktop entries and AppStream metadata.
#   validate-desktop-files.sh FILE...
#
# PipSink has no web site, which AppStream 1.0 warns of (Debian 13); 0.16 does not know that warning, and so cannot be told
# to let it pass (Debian 12).
set -eu

for file; do
  case $file in
    *.desktop) desktop-file-validate "$file" ;;
    *.metainfo.xml)
      appstreamcli validate --no-net --override=url-homepage-missing=info "$file" >/dev/null 2>&1 ||
        appstreamcli validate --no-net "$file"
      ;;
    *)
      echo "$0: $file is neither a desktop entry nor AppStream metadata" >&2
      exit 64
      ;;
  esac
done
