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
cd "$folder"
if [ ! -d "$folder/data" ]; then
	# Sorted in another way than by bytes, which the component asks for.
	"${as_user[@]}" initdb --pgdata="$folder/data" --username=dashboard --auth=trust --encoding=UTF8 --no-sync \
		--locale=C --locale-provider=icu --icu-locale=en-US >/dev/null
fi
exec "${as_user[@]}" postgres -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off -c max_connections=50 \
	"$@"
