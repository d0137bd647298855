# shellcheck shell=sh
# The simulator alone: operations and blocks a second, and how that grows with their number.
exec "$GRIDTIDE_BUILD/tests/bench/simulate_bench"
