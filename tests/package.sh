#!/bin/sh
# package.sh TARBALL FOLDER: build the Debian package of a `make dist` tarball in FOLDER, check it with lintian, and try what is in it.
# For `make deb`: it compiles everything once more, so `make check` leaves it out.
set -eu
tarball=$(realpath "$1")
folder=$2

for tool in dpkg-buildpackage dh lintian; do
    command -v $tool > /dev/null || { echo "$tool is missing; install dpkg-dev, debhelper and lintian" >&2; exit 1; }
done
rm -rf "$folder"
mkdir -p "$folder/source"
cd "$folder"
tar -xf "$tarball" -C source --strip-components=1
(cd source && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage -us -uc -b) > build.log 2>&1 || { tail -n 30 build.log >&2; exit 1; }
package=$(echo gridtide_*.deb)
lintian --fail-on error,warning "$package"
# As it will be used: the installed files alone, wherever they are.
dpkg-deb -x "$package" installed
GRIDTIDE_EXAMPLES=$PWD/installed/usr/share/doc/gridtide/examples PATH=$PWD/installed/usr/bin:$PATH sh source/debian/tests/smoke
echo "$folder/$package"
