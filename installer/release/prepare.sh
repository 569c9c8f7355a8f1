#!/bin/sh
# Makes what a release holds beside the programs: completions, the manual page, the plugin for
# Claude Code, and install.sh with the publisher's key.
#
#   installer/release/prepare.sh VERSION DIRECTORY
#
# The key is the public half of BECKON_SIGNING_KEY; without it install.sh installs nothing.
# BECKON_FROM is the https address where the release will lie, if install.sh is to know it.
#
# The same sources and version give the same bytes.
set -eu

version=$1 dir=$2 key='' from=${BECKON_FROM-}
case $from in
'' | https://*) ;;
*) from=' ' ;;
esac
case $from in
*[!A-Za-z0-9._~:/%+@-]*)
	printf 'prepare.sh: BECKON_FROM is not an https address: %s\n' "$BECKON_FROM" >&2
	exit 1
	;;
esac
if [ -n "${BECKON_SIGNING_KEY-}" ]; then
	case $BECKON_SIGNING_KEY in
	*.pub) key=$(cut -d ' ' -f 1,2 "$BECKON_SIGNING_KEY") ;;
	*) key=$(ssh-keygen -y -f "$BECKON_SIGNING_KEY" | cut -d ' ' -f 1,2) ;;
	esac
	if [ -z "$key" ]; then
		printf 'prepare.sh: BECKON_SIGNING_KEY is no SSH key: %s\n' "$BECKON_SIGNING_KEY" >&2
		exit 1
	fi
fi
cd "$(dirname "$0")/../.."
rm -rf "$dir"
mkdir -p "$dir/completions" "$dir/man"
go build -trimpath -ldflags "-X beckon/cmd/internal/cli.version=$version" -o "$dir/beckon" ./cmd/beckon
for shell in bash zsh fish; do
	case $shell in
	bash) name=beckon.bash ;;
	zsh) name=_beckon ;; # the name under which zsh's fpath finds it
	fish) name=beckon.fish ;;
	esac
	"$dir/beckon" completion $shell >"$dir/completions/$name"
done
"$dir/beckon" man >"$dir/man/beckon.1"
gzip -9 -n "$dir/man/beckon.1"
cp -R installer/plugin "$dir/plugin"
case ${version#v} in
[0-9]*.[0-9]*.[0-9]*) # which the client can compare
	for file in .claude-plugin/plugin.json .codex-plugin/plugin.json gemini/gemini-extension.json; do
		sed -e '/^  "version":/d' -e "s|^  \"name\": \"beckon\",|&\\
  \"version\": \"${version#v}\",|" "installer/plugin/$file" >"$dir/plugin/$file"
	done
	;;
esac
rm "$dir/beckon"
sed -e "s|^key=\$|key='$key'|" -e "s|^from=\$|from='$from'|" installer/install.sh >"$dir/install.sh"
chmod 755 "$dir/install.sh"
