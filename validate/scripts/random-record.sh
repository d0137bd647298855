#!/bin/sh
# Record random traces on the GPU at hand: validate/scripts/random-record.sh SEED COUNT OUTPUT.db.zst [REPETITIONS [FAMILIES]]
#
# Each of the COUNT traces that SEED draws, of the families named, is played twice, or so often. What is kept: the measured runs,
# and where blocks were placed and when tasks were done for every tenth trace; simulations are made anew by whoever replays (random.sh). GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
seed=$1 count=$2 output=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$GRIDTIDE" validate --random "$count" --draw-seed "$seed" --repeat "${4:-2}" --blocks off --format csv \
    ${5:+--families "$5"} -o "$work/all.db" > "$work/all.csv"
sqlite3 "$work/all.db" "
    PRAGMA foreign_keys = off;
    CREATE TEMP TABLE gone AS SELECT run_id FROM run WHERE kind = 'simulated';
    DELETE FROM comparison;
    DELETE FROM run_op WHERE run_id IN gone;
    DELETE FROM run_call WHERE run_id IN gone;
    DELETE FROM run_placement WHERE run_id IN gone
        OR run_id IN (SELECT run_id FROM run WHERE trace_id % 10 <> 0);
    DELETE FROM run_task WHERE run_id IN gone
        OR run_id IN (SELECT run_id FROM run WHERE trace_id % 10 <> 0);
    DELETE FROM task WHERE trace_id % 10 <> 0;
    DELETE FROM counter WHERE run_id IN gone;
    DELETE FROM run WHERE run_id IN gone;
    VACUUM;"
zstd -q -19 -f "$work/all.db" -o "$output"
