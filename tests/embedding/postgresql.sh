#!/usr/bin/env bash
# postgresql.sh FOLDER [OPTION…]: makes a PostgreSQL database in an empty folder, or takes the one that is there,
# and serves it on a socket in the folder, until it gets a signal. Clients connect with PGHOST=FOLDER
# PGUSER=dashboard PGDATABASE=postgres. The options are those of `postgres`.
set -euo pipefail
folder=$1
shift
PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)
# PostgreSQL refuses to run as root.
as_user=()
if [ "$(id -u)" = 0 ]; then
	chown -R nobody "$folder"
	as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
fi
here=$(cd "$(dirname "$0")" && pwd)
cd "$folder"
if [ ! -d data ]; then
	# initdb takes a second, and copying what it made a tenth of that. So that is kept, by its version and by this file.
	made=$(cat <(initdb --version) "$here/postgresql.sh" | cksum | cut -d' ' -f1)
	kept=$here/../../target/initdb-$(id -u)-$made
	if [ -d "$kept" ]; then
		cp -a "$kept" data
	else
		# Sorted in another way than by bytes, which the component asks for.
		"${as_user[@]}" initdb --pgdata="$folder/data" --username=dashboard --auth=trust --encoding=UTF8 --no-sync \
			--locale=C --locale-provider=icu --icu-locale=en-US >/dev/null
		# Others may do the same at the same time, and one that is killed leaves only a folder that nothing takes.
		mkdir -p "$(dirname "$kept")"
		if copy=$(mktemp -d "$kept.XXXXXX"); then
			{ cp -a data "$copy/data" && mv -T "$copy/data" "$kept"; } 2>/dev/null || true
			rm -rf "$copy"
		fi
	fi
fi
exec "${as_user[@]}" postgres -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off -c max_connections=50 \
	"$@"
