#!/bin/sh
# The graph of files against the rules of the house: rooms.py, where there is a python3.
if ! command -v python3 > /dev/null; then
    echo '1..0 # SKIP python3 is not installed'
    exit 0
fi
exec python3 "${GRIDTIDE_SOURCE:-.}/tests/rooms.py"
