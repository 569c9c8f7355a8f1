#!/bin/sh
# Runs the README's two commands in a bare Debian that has Go and git and nothing else: no
# tmux, no other shells, no curl, no client. It clones the commit that is checked out.
#
#   testdata/release/bare.sh [ROOT]
#
# It must be run as root, with debootstrap installed. ROOT is where the system is made, a
# new temporary directory unless given; one that is there already is used again. Debian's
# packages come from BECKON_DEBIAN_MIRROR, else from where debootstrap looks, and Go's
# modules from where this machine's go looks: GOPROXY and what belongs to it are handed
# on. The Go toolchain is this machine's, copied.
set -eu

fail() {
	printf 'bare.sh: %s\n' "$1" >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "a root file system is made by root"
command -v debootstrap >/dev/null || fail "debootstrap is not installed"
source=$(cd "$(dirname "$0")/../.." && pwd)
suite=${BECKON_DEBIAN_SUITE-stable}
if [ $# -gt 0 ]; then
	root=$1
else
	root=$(mktemp -d)
	trap 'rm -rf "$root"' EXIT
	chmod 755 "$root" # who runs the commands there has no rights
fi

if [ ! -e "$root/usr/bin/git" ]; then
	# shellcheck disable=SC2086 # no mirror is no argument
	debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" ${BECKON_DEBIAN_MIRROR-} >"$root.log" 2>&1 || {
		tail -20 "$root.log" >&2
		fail "debootstrap failed; all it said is in $root.log"
	}
	rm -f "$root.log"
fi
# What this machine trusts and how it finds names: a mirror may have its own authority.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
rm -rf "$root/usr/local/go" "$root/home/dev"
cp -a "$(go env GOROOT)" "$root/usr/local/go"
grep -q '^dev:' "$root/etc/passwd" || chroot "$root" useradd --create-home --shell /bin/sh dev
mkdir -p "$root/home/dev"
git clone -q "$source" "$root/home/dev/beckon"
chroot "$root" chown -R dev: /home/dev

# The README's commands, as they stand there: each the first indented line after its words.
readme() { awk -v words="$1" 'index($0, words) { on = 1; next } on && /^    / { sub(/^    /, ""); print; exit }' "$source/README.md"; }
setup=$(readme '**Set it up and run it**')
tests=$(readme '**Run the tests:**')
if [ -z "$setup" ] || [ -z "$tests" ]; then
	fail "the README has no two commands"
fi

set -- HOME=/home/dev USER=dev LOGNAME=dev LANG=C.UTF-8 PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin
for name in GOPROXY GOFLAGS GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE GOTOOLCHAIN; do
	value=$(go env $name)
	[ -z "$value" ] || set -- "$@" "$name=$value"
done
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
	eval "value=\${$name-}"
	[ -z "$value" ] || set -- "$@" "$name=$value"
done

# Mounts of a name space of their own go with it, however this ends.
inside() {
	# shellcheck disable=SC2016 # it is the inner shell's to expand
	unshare --mount --pid --fork sh -c '
		root=$1 command=$2
		shift 2
		mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		mount -t tmpfs -o mode=755 tmpfs "$root/dev"
		for d in null zero full random urandom tty; do
			: >"$root/dev/$d"
			mount --bind "/dev/$d" "$root/dev/$d"
		done
		mkdir "$root/dev/shm" "$root/dev/pts"
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
		mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
		ln -s pts/ptmx "$root/dev/ptmx"
		ln -s /proc/self/fd "$root/dev/fd"
		# No exec: this shell is the first process in here, and collects the orphans.
		chroot --userspec=dev:dev "$root" /usr/bin/env -i "$@" /bin/sh -c "cd /home/dev/beckon && $command"
		code=$?
		exit $code
	' sh "$root" "$@"
}

printf '== in %s: %s and git, %s packages in all\n' "$(cat "$root/etc/debian_version")" "$(go env GOVERSION)" "$(chroot "$root" dpkg-query -f . -W | wc -c)"
printf '== %s\n' "$setup"
inside "$setup" "$@"
printf '== %s\n' "$tests"
inside "$tests" "$@"
printf '== both are green\n'
