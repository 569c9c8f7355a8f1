#!/bin/sh
# Writes what the programs of an archive are made of: a software bill of materials in CycloneDX.
#
#   installer/release/sbom.sh ARCHIVE DOCUMENT
#
# The same archive gives the same bytes: what syft makes up anew each time is left out, and where
# it unpacked the archive.
set -eu

archive=$1 document=$2
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
SYFT_CHECK_FOR_APP_UPDATE=false syft scan "file:$archive" --quiet --source-name "${archive##*/}" --output "cyclonedx-json=$raw"
jq 'del(.serialNumber, .metadata.timestamp)
	| walk(if type == "string" then sub("^.*/syft-archive-contents-[0-9]+/"; "") else . end)' "$raw" >"$document"
