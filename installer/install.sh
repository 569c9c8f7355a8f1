#!/bin/sh
# Installs beckon from the archives of one release, or removes it.
#
#   install.sh [--dir DIR] [--version VERSION] [--from FROM]
#   install.sh [--dir DIR] --remove
#
# FROM is where the release lies: an https address, or a directory, with checksums.txt,
# checksums.txt.sig and the archives. Programs go to DIR/bin, completions and the manual page
# to DIR/share; DIR is ~/.local unless given. With --version another version is refused.
#
# Nothing is installed from an archive that checksums.txt does not list or whose SHA-256 is
# another, nor when the publisher's key, which is in this script, did not sign checksums.txt.
#
# It needs no root, but a POSIX sh, tar, gzip, ssh-keygen (OpenSSH 8.1 or later), one of
# sha256sum, shasum and openssl, and for an address one of curl and wget.
set -eu

# installer/release/prepare.sh fills these in when a release is made: the public half of the
# publisher's SSH key ("ssh-ed25519 AAAA"), and where the release will lie.
key=
from=

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install.sh: %s\n' "$1" >&2
	[ -z "${2-}" ] || printf '  hint: %s\n' "$2" >&2
	exit 1
}
usage() { fail "$1" "install.sh [--dir DIR] [--version VERSION] [--from FROM], or install.sh [--dir DIR] --remove"; }
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

# check_from refuses an address that is not protected on the way.
check_from() {
	case $1 in
	https://*) ;;
	*://*) fail "\"$1\" is not an https address" ;;
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
		curl -fsSL --proto '=https' --retry 2 -o "$scratch/$1" "$from/$1" || fail "fetching \"$from/$1\" with curl"
	elif has wget; then
		# It cannot follow redirects to https alone.
		wget -q --max-redirect=0 -O "$scratch/$1" "$from/$1" || fail "fetching \"$from/$1\" with wget" "curl follows redirects"
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

# checked NAME SUM fetches a file, and fails unless that is its checksum.
checked() {
	fetch "$1"
	got=$(digest "$scratch/$1")
	[ "$got" = "$2" ] || fail "\"$1\" is not what checksums.txt says: its SHA-256 is $got, not $2" "nothing was installed; fetch it again"
}

# built says of which commit the archive was built, in a release with provenance.
built() {
	line=$(listed "$archive.intoto.json") || return 0
	checked "$archive.intoto.json" "${line%% *}"
	awk -F '"' -v sum="$want" '
		$2 == "sha256" && $4 == sum { ok = 1 }
		$2 == "gitCommit" { print "it was built of commit " $4 }
		END { exit !ok }
	' "$scratch/$archive.intoto.json" || fail "the provenance of \"$archive\" is another archive's" "nothing was installed"
}

# signed fails unless the publisher signed checksums.txt.
signed() {
	fetch checksums.txt.sig
	say "beckon $key" >"$scratch/signers"
	why=$(ssh-keygen -Y verify -f "$scratch/signers" -I beckon -n beckon -s "$scratch/checksums.txt.sig" 2>&1 <"$scratch/checksums.txt") ||
		fail "the publisher did not sign this checksums.txt, and nothing was installed" "ssh-keygen says: $why"
}

# files lists, by lines, what is installed: its name in the archive, its place and its mode. beckon
# names the hook beside it, which therefore comes first.
files() {
	say "beckon-hook bin/beckon-hook 755
beckon bin/beckon 755
completions/beckon.bash share/bash-completion/completions/beckon 644
completions/_beckon share/zsh/site-functions/_beckon 644
completions/beckon.fish share/fish/vendor_completions.d/beckon.fish 644
man/beckon.1.gz share/man/man1/beckon.1.gz 644"
}

# put installs all files or none: they get their names when all are there. A program that runs
# goes on with the old one.
put() {
	files | while read -r name place mode; do
		mkdir -p "$(dirname "$dir/$place")"
		cp "$scratch/all/$name" "$dir/$place.new.$$"
		chmod "$mode" "$dir/$place.new.$$"
	done
	files | while read -r name place mode; do mv -f "$dir/$place.new.$$" "$dir/$place"; done
}

# forget removes what an installation that failed left.
forget() {
	rm -rf "$scratch"
	files | while read -r name place mode; do rm -f "$dir/$place.new.$$"; done
}

# remove takes away what put installed, and directories that are empty then.
remove() {
	[ -e "$dir/bin/beckon" ] || fail "there is no $dir/bin/beckon"
	rm -f "$dir/bin/beckon-line"
	files | while read -r name place mode; do
		rm -f "$dir/$place"
		(cd "$dir" && rmdir -p "$(dirname "$place")" 2>/dev/null) || true
	done
	say "removed beckon from $dir"
}

main() {
	dir=${HOME:+$HOME/.local} wanted='' gone=''
	while [ $# -gt 0 ]; do
		option=${1%%=*}
		case $1 in
		--remove) gone=yes ;;
		--dir | --version | --from)
			[ -n "${2-}" ] || usage "$1 needs a value"
			value=$2
			shift
			;;
		--dir=?* | --version=?* | --from=?*) value=${1#*=} ;;
		*) usage "\"$1\" is not understood" ;;
		esac
		case $option in
		--dir) dir=$value ;;
		--version) wanted=${value#v} ;;
		--from) from=$value ;;
		esac
		shift
	done
	[ -n "$dir" ] || usage "there is no HOME to install into"
	if [ -n "$gone" ]; then
		remove
		return
	fi
	[ -n "$from" ] || usage "it is not said where the release lies"
	from=${from%/}
	check_from "$from"
	[ -n "$key" ] || fail "this install.sh has no publisher's key, so nothing can be verified" "take the one of a release, or unpack an archive that you trust"
	has ssh-keygen || fail "ssh-keygen is not there: the signature could not be verified" "install openssh-client, on Alpine openssh-keygen"
	has sha256sum || has shasum || has openssl || fail "none of sha256sum, shasum and openssl is there: the archive could not be checked"
	end=$(platform)

	scratch=$(mktemp -d)
	trap forget EXIT
	trap 'exit 1' HUP INT TERM
	fetch checksums.txt
	signed
	line=$(listed "$end") || fail "checksums.txt lists no archive, or more than one, whose name ends in $end" "is \"$from\" one release of beckon?"
	want=${line%% *} archive=${line#* }
	case $archive in */* | .*) fail "checksums.txt lists \"$archive\", which is not an archive's name" ;; esac
	[ -z "$wanted" ] || [ "$archive" = "beckon_$wanted$end" ] || fail "\"$from\" has \"$archive\", which is not version $wanted"
	say "fetching $archive from $from"
	checked "$archive" "$want"
	say "it is as the publisher signed it"
	built

	mkdir "$scratch/all"
	gzip -dc "$scratch/$archive" | tar -xf - -C "$scratch/all"
	version=$("$scratch/all/beckon" version) || fail "the program in \"$archive\" does not run here"
	put
	rm -f "$dir/bin/beckon-judge" # of an earlier version, as is beckon-line, which settings may name
	[ ! -e "$dir/bin/beckon-line" ] || ln -sf beckon-hook "$dir/bin/beckon-line"

	say "installed $version in $dir/bin, completions and the manual page in $dir/share"
	case :$PATH: in
	*:"$dir/bin":*) say "next: beckon setup" ;;
	*) say "next: $dir/bin/beckon setup ($dir/bin is not in PATH)" ;;
	esac
}

main "$@"
