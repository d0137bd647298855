# shellcheck shell=sh
# Task graphs: tasks a second by policy, of small and large graphs, and memory a task.
exec "$GRIDTIDE_BUILD/tests/bench/tasks_bench"
