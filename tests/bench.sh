#!/bin/sh
# make bench: every tests/bench/*.sh, after what they ran on.
sed -n 's/^model name[^:]*: /core: /p' /proc/cpuinfo | head -n 1
echo "memory: $(awk '/MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)"
echo "compiled with: $GRIDTIDE_COMPILED"
status=0
for bench in "$GRIDTIDE_SOURCE"/tests/bench/*.sh; do
    [ -f "$bench" ] || continue
    echo
    echo "== $(basename "$bench" .sh)"
    sh "$bench" || status=1
done
exit $status
