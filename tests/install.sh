#!/usr/bin/env bash
# install.sh COMMAND PACKAGE: installs the package of Debian's that brings a command, unless it is there.
set -euo pipefail
command=$1 package=$2
if command -v "$command" >/dev/null; then
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "$command is needed by the tests, and there is no apt-get to install it: install it yourself" >&2
	exit 1
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "$command is needed by the tests: install Debian's package $package as root" >&2
		exit 1
	fi
	as_root=(sudo)
fi
echo "installing Debian's package $package, which the tests need"
"${as_root[@]}" apt-get update -qq
# A service that a package brings is not started: the tests run their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
	trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
