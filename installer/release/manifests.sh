#!/bin/sh
# Fills in the manifests of a release: Homebrew's formula (beckon.rb), Scoop's manifest
# (beckon.json), the AUR's PKGBUILD and Nix's package (beckon.nix).
#
#   installer/release/manifests.sh FROM [DIST [OUT]]
#
# FROM is the https address under which the archives of DIST (dist/) will lie; OUT is
# where the manifests go (DIST). BECKON_HOMEPAGE is the project's page, else FROM.
set -eu

fail() {
	printf 'manifests.sh: %s\n' "$1" >&2
	exit 1
}

from=${1-} dist=${2-dist} out=${3-${2-dist}}
from=${from%/}
homepage=${BECKON_HOMEPAGE-$from}
for address in "$from" "$homepage"; do
	case $address in
	*[!A-Za-z0-9._~:/%+@-]*) fail "\"$address\" has characters that an address has not" ;;
	https://?*) ;;
	*) fail "\"$address\" is not an https address" ;;
	esac
done
sums=$dist/checksums.txt
[ -f "$sums" ] || fail "there is no \"$sums\": run goreleaser first"

# entry PLATFORM prints checksum and name of its archive.
entry() {
	awk -v end="_$1" '
		{ name = $2; sub(/\.(tar\.gz|zip)$/, "", name) }
		name != $2 && substr(name, length(name) - length(end) + 1) == end { n++; line = $1 " " $2 }
		END { if (n != 1) exit 1; print line }
	' "$sums" || fail "\"$sums\" lists no archive, or more than one, for $1"
}

version=$(entry linux_amd64)
version=${version#* beckon_}
version=${version%_linux_amd64*}
set -- -e "s|@FROM@|$from|" -e "s|@HOMEPAGE@|$homepage|" -e "s|@VERSION@|$version|"
for platform in darwin_arm64 darwin_amd64 linux_arm64 linux_amd64 windows_amd64 windows_arm64; do
	line=$(entry $platform)
	set -- "$@" -e "s|@$platform@|${line%% *}|"
done

templates=$(dirname "$0")
mkdir -p "$out"
for name in beckon.rb beckon.json PKGBUILD beckon.nix; do
	sed "$@" "$templates/$name.in" >"$out/$name"
done
