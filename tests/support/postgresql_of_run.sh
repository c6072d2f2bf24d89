#!/usr/bin/env bash
# postgresql_of_run.sh FOLDER PROCESS: serves PostgreSQL in the background as tests/embedding/postgresql.sh does, for as
# long as the process runs, and then removes the folder.
serve_while_it_runs() {
	"$(dirname "$0")/../embedding/postgresql.sh" "$1" -c max_connections=1000 &
	tail --pid="$2" --follow /dev/null
	# The second is for a server that waits for its clients to leave.
	kill -TERM $!
	kill -INT $!
	wait
	rm -rf "$1"
}
serve_while_it_runs "$@" &
