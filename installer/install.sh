#!/bin/sh
# Installs beckon from the archives of one release.
#
#   install.sh [--prefix DIR] FROM
#
# FROM is where the release lies: an https address or a directory that holds
# checksums.txt and the archives. BECKON_FROM says it too. Programs go to DIR/bin,
# completions and the manual page to DIR/share; DIR is ~/.local unless given.
#
# Nothing is installed from an archive that checksums.txt does not list, or whose
# SHA-256 is another. That finds what was damaged or mixed up on the way; whoever can
# write to FROM can write both.
#
# It needs a POSIX sh, tar, gzip, one of sha256sum, shasum and openssl, and for an
# address one of curl and wget.
set -eu

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install.sh: %s\n' "$1" >&2
	[ -z "${2-}" ] || printf '  hint: %s\n' "$2" >&2
	exit 1
}
usage() { fail "${1-}" "install.sh [--prefix DIR] FROM, where FROM is an https address or a directory with checksums.txt"; }
has() { command -v "$1" >/dev/null 2>&1; }

# platform prints the end of the archive's name.
platform() {
	os=$(uname -s) arch=$(uname -m)
	case $os in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for the system \"$os\"" "releases have Linux and macOS here, and a zip for Windows; elsewhere: go install ./cmd/beckon ./cmd/beckon-hook" ;;
	esac
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for the processor \"$arch\"" "releases have amd64 and arm64; elsewhere: go install ./cmd/beckon ./cmd/beckon-hook" ;;
	esac
	say "_${os}_$arch.tar.gz"
}

# check_from refuses an address that anybody on the way could answer for.
check_from() {
	case $1 in
	https://*) ;;
	http://*@*) fail "\"$1\" has a name in it" ;; # http://127.0.0.1:80@elsewhere is elsewhere
	http://127.0.0.1[:/]* | http://localhost[:/]* | http://\[::1\][:/]*) ;;
	*://*) fail "\"$1\" is not an https address" "checksums that come the same unprotected way prove nothing" ;;
	*) [ -d "$1" ] || fail "\"$1\" is neither an https address nor a directory" ;;
	esac
}

# fetch NAME gets one file of the release into the scratch directory.
fetch() {
	case $from in
	*://*) ;;
	*)
		cp "$from/$1" "$scratch/$1" || fail "copying \"$1\" from \"$from\""
		return
		;;
	esac
	if has curl; then
		curl -fsSL --retry 2 -o "$scratch/$1" "$from/$1" || fail "fetching \"$from/$1\" with curl"
	elif has wget; then
		wget -q -O "$scratch/$1" "$from/$1" || fail "fetching \"$from/$1\" with wget"
	else
		fail "neither curl nor wget is there" "fetch the release by other means and give its directory"
	fi
}

# digest FILE prints its SHA-256 in hex.
digest() {
	if has sha256sum; then
		sha256sum <"$1"
	elif has shasum; then
		shasum -a 256 <"$1"
	else
		openssl dgst -sha256 -r <"$1"
	fi | cut -d ' ' -f 1
}

# listed SUFFIX prints the checksum and name of the one archive that ends so.
listed() {
	awk -v end="$1" '
		NF == 2 { name = $2; sub(/^\*/, "", name) }
		NF == 2 && substr(name, length(name) - length(end) + 1) == end { n++; line = $1 " " name }
		END { if (n != 1) exit 1; print line }
	' "$scratch/checksums.txt"
}

# put FILE PLACE MODE installs one file; a program that runs goes on with the old one.
put() {
	mkdir -p "$(dirname "$2")"
	cp "$1" "$2.new.$$"
	chmod "$3" "$2.new.$$"
	mv -f "$2.new.$$" "$2"
}

main() {
	prefix=${HOME:+$HOME/.local} from=${BECKON_FROM-}
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix)
			[ $# -gt 1 ] || usage "--prefix needs a directory"
			prefix=$2
			shift
			;;
		--prefix=*) prefix=${1#*=} ;;
		-*) usage "\"$1\" is not understood" ;;
		*) from=$1 ;;
		esac
		shift
	done
	[ -n "$from" ] || usage "it is not said where the release lies"
	[ -n "$prefix" ] || usage "there is no HOME to install into"
	from=${from%/}
	check_from "$from"
	has sha256sum || has shasum || has openssl || fail "none of sha256sum, shasum and openssl is there: the archive could not be checked"
	end=$(platform)

	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	fetch checksums.txt
	line=$(listed "$end") || fail "checksums.txt lists no archive, or more than one, whose name ends in $end" "is \"$from\" one release of beckon?"
	want=${line%% *} archive=${line#* }
	case $archive in */* | .*) fail "checksums.txt lists \"$archive\", which is not an archive's name" ;; esac
	fetch "$archive"
	got=$(digest "$scratch/$archive")
	[ "$got" = "$want" ] || fail "\"$archive\" is not what checksums.txt says: its SHA-256 is $got, not $want" "nothing was installed; fetch it again"

	mkdir "$scratch/all"
	gzip -dc "$scratch/$archive" | tar -xf - -C "$scratch/all"
	cd "$scratch/all"
	version=$(./beckon version) || fail "the program in \"$archive\" does not run here"
	put beckon-hook "$prefix/bin/beckon-hook" 755 # first: beckon names the hook beside it
	put beckon "$prefix/bin/beckon" 755
	rm -f "$prefix/bin/beckon-judge" # of an earlier version, as is beckon-line, which settings may name
	[ ! -e "$prefix/bin/beckon-line" ] || ln -sf beckon-hook "$prefix/bin/beckon-line"
	put completions/beckon.bash "$prefix/share/bash-completion/completions/beckon" 644
	put completions/_beckon "$prefix/share/zsh/site-functions/_beckon" 644
	put completions/beckon.fish "$prefix/share/fish/vendor_completions.d/beckon.fish" 644
	put man/beckon.1.gz "$prefix/share/man/man1/beckon.1.gz" 644

	say "installed $version in $prefix/bin"
	case :$PATH: in
	*:"$prefix/bin":*) say "next: beckon install" ;;
	*) say "next: $prefix/bin/beckon install ($prefix/bin is not in PATH)" ;;
	esac
}

main "$@"
