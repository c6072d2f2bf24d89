#!/usr/bin/env bash
# Brings the viewer of /api/docs to another version: renew.sh 5.35.0
# Downloads the package by npm, runs nothing of it, and keeps the files that are served.
set -euo pipefail
version=${1:?which version, as in: renew.sh 5.35.0}
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack "swagger-ui-dist@$version" --silent --pack-destination "$folder" >/dev/null
tar -xzf "$folder"/*.tgz -C "$folder"
for file in swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css LICENSE NOTICE; do
	install -m 644 "$folder/package/$file" "$file"
done
sed -i -E "s/^(Version: ).*/\1$version/" README.md
