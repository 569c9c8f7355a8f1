#!/bin/sh
# Writes where an artifact of a release comes from: an in-toto statement with SLSA's provenance.
#
#   installer/release/provenance.sh ARTIFACT DOCUMENT
#
# checksums.txt lists the statement, so the publisher's signature covers it, too. The same artifact,
# commit and Go give the same bytes: it has no times and no name of a machine.
set -eu

artifact=$1 document=$2
sum() { openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1; }
top=$(git rev-parse --show-toplevel)
jq -n --sort-keys \
	--arg name "${artifact##*/}" --arg digest "$(sum "$artifact")" \
	--arg commit "$(git rev-parse HEAD)" --arg ref "$(git describe --tags --exact-match 2>/dev/null || echo HEAD)" \
	--arg sums "$(sum "$top/go.sum")" --arg go "$(go env GOVERSION)" --arg page "${BECKON_HOMEPAGE-}" \
	'{
		_type: "https://in-toto.io/Statement/v1",
		subject: [{name: $name, digest: {sha256: $digest}}],
		predicateType: "https://slsa.dev/provenance/v1",
		predicate: {
			buildDefinition: {
				buildType: "https://goreleaser.com",
				externalParameters: {config: "goreleaser.yaml", ref: $ref},
				internalParameters: {go: $go},
				resolvedDependencies: [
					{name: "source", digest: {gitCommit: $commit}} + if $page == "" then {} else {uri: $page} end,
					{name: "go.sum", digest: {sha256: $sums}}
				]
			},
			runDetails: {builder: {id: "urn:beckon:publisher"}} # whoever signed checksums.txt
		}
	}' >"$document"
