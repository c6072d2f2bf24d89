#!/bin/sh
# image-root.sh DEB FOLDER: makes the root of the container image: the binary, the libraries that it needs, its user,
# and nothing else. Runs on Debian of the same machine.
set -eu
deb=$1 root=$2
mkdir -p "$root"
root=$(cd "$root" && pwd)
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
dpkg-deb --extract "$deb" "$unpacked"
mkdir -p "$root/usr/bin" "$root/usr/share/doc" "$root/etc" "$root/data"
cp "$unpacked/usr/bin/portico" "$root/usr/bin/"
cp -R "$unpacked/usr/share/doc/portico" "$root/usr/share/doc/"
# Names and the user; glibc loads what looks names up only when it is needed.
libraries=$(ldd "$unpacked/usr/bin/portico" | grep -o '/[^ ]*')
folder=$(dirname "$(echo "$libraries" | grep '/libc\.so\.6$')")
for library in $libraries "$folder/libnss_files.so.2" "$folder/libnss_dns.so.2" "$folder/libresolv.so.2"; do
	mkdir -p "$root$(dirname "$library")"
	cp -L "$library" "$root$library"
done
for library in libc6 libgcc-s1; do
	mkdir -p "$root/usr/share/doc/$library"
	cp -L "/usr/share/doc/$library/copyright" "$root/usr/share/doc/$library/"
done
echo 'portico:x:65532:65532::/data:/nonexistent' >"$root/etc/passwd"
echo 'portico:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
chown 65532:65532 "$root/data"
chmod 0700 "$root/data"
