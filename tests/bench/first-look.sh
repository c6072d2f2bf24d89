#!/usr/bin/env bash
# A first look at speed: requests per second of a release build on loopback, and the ratio to a route
# that answers fixed bytes. Cases are interleaved; the median of the rounds counts. Only the ratios
# say anything: wrk and the service share the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v wrk >/dev/null || { echo "bench: wrk is missing; on Debian: apt-get install wrk" >&2; exit 1; }
rounds=${ROUNDS:-3} seconds=${SECONDS_PER_CASE:-2} connections=32

folder=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; wait; rm -rf "$folder"' EXIT
json='content-type: application/json'
account='{"username": "ada", "password": "correct horse"}'
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }

start() { # start NAME: a service with an administrator; leaves its address in url, a header with a key in bearer
    PORTICO_ICON_SOURCES='' PORTICO_LOG=warn target/release/portico serve --listen 127.0.0.1:0 \
        --data "$folder/$1" >"$folder/$1.out" &
    servers+=($!)
    for _ in $(seq 200); do grep -q '^portico listens' "$folder/$1.out" && break; sleep 0.05; done
    url=$(awk '/^portico listens/ { print $4 }' "$folder/$1.out")
    curl -sSf "$url/api/trpc/user.initUser" -H "$json" -d "$account" >/dev/null
    token=$(curl -sSf "$url/api/auth/sign-in" -H "$json" -d "$account" | field token)
    key=$(curl -sSf -X POST "$url/api/trpc/apiKeys.create" -H "$json" -H "authorization: Bearer $token" | field apiKey)
    bearer="authorization: Bearer $key"
}

# What is created must not slow down what is read: it goes elsewhere.
start written
written_url=$url written_bearer=$bearer
start read
apps=$(for n in $(seq 100); do printf '{"name":"App %d","iconUrl":"/icon.svg"},' "$n"; done)
app=$(curl -sSf "$url/api/trpc/app.createMany" -H "$json" -H "$bearer" -d "[${apps%,}]" | sed 's/.*"appId":"\([^"]*\)".*/\1/')
cat >"$folder/post.lua" <<LUA
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '{"name": "Jellyfin", "iconUrl": "/icon.svg"}'
LUA

names=("fixed bytes" "one app, anonymous" "one app, with a key" "100 apps, with a key" "create an app")
load() { # load CASE: requests per second
    case $1 in
        0) set -- "$url/api/health/live" ;;
        1) set -- "$url/api/apps/$app" ;;
        2) set -- -H "$bearer" "$url/api/apps/$app" ;;
        3) set -- -H "$bearer" "$url/api/apps/paginated?page=1&pageSize=100" ;;
        4) set -- -H "$written_bearer" -s "$folder/post.lua" "$written_url/api/apps" ;;
    esac
    wrk -t1 -c"$connections" -d"${seconds}s" "$@" | awk '/Non-2xx/ { bad = 1 } /Requests\/sec/ { print (bad ? "errors" : $2) }'
}
for round in $(seq "$rounds"); do
    echo "round $round of $rounds" >&2
    for case in "${!names[@]}"; do load "$case" >>"$folder/case$case"; done
done
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }
fixed=$(median "$folder/case0")
printf '%-24s %12s %8s\n' work requests/s ratio
for case in "${!names[@]}"; do
    rps=$(median "$folder/case$case")
    printf '%-24s %12s %8s\n' "${names[$case]}" "$rps" "$(awk "BEGIN { printf \"%.2f\", $rps / $fixed }")"
done
