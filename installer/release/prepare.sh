#!/bin/sh
# Makes what a release holds beside the programs: completions, the manual page, and the plugin
# for Claude Code.
#
#   installer/release/prepare.sh VERSION DIRECTORY
#
# The same sources and version give the same bytes.
set -eu

version=$1 dir=$2
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
"$dir/beckon" plugin "$dir/plugin" >/dev/null
rm "$dir/beckon"
