# shellcheck shell=sh
# Races: how long 1 M operations take to look at.
exec "$GRIDTIDE_BUILD/tests/bench/check_bench"
