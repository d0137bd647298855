#!/bin/sh
# Hold timelines whose kernels last as their machine code says against stored measurements, without a GPU:
# validate/programs.sh [DATABASE [PROFILE [FOLDER]]]
#
# Prints a line a trace (name, signed error of the makespan in %, mean error of its kernels' durations in %),
# then, of kernels alone, kernels together, and of the latter's first and second half (every second name of a
# family): "figure NAME TRACES MEAN WORST KERNELS": mean and worst error of the makespan, mean error of the
# kernels' durations, all without sign, in %. GRIDTIDE names the program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
database=${1:-$here/programs.db}
profile=${2:-$here/../traces/kernels/programs.jsonl.zst}
folder=${3:-$here/../traces/scenarios/programs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${GRIDTIDE:-gridtide}" validate -q --programs "$profile" --cost program --measured "$database" --blocks off \
    "$folder"/*.jsonl -o "$work/now.db"
sqlite3 -separator ' ' "$work/now.db" "
    WITH span AS (
        SELECT run_id, trace_id, kind, (max(end_ps) - min(start_ps)) / 1e6 AS us
        FROM run JOIN run_op USING (run_id) GROUP BY run_id),
    middle AS (
        SELECT trace_id, us, row_number() OVER (PARTITION BY trace_id ORDER BY us) AS place,
            count(*) OVER (PARTITION BY trace_id) AS runs
        FROM span WHERE kind = 'measured'),
    lasted AS (
        SELECT trace_id, op_no, kind, avg(end_ps - start_ps) AS ps
        FROM run JOIN run_op USING (run_id) GROUP BY trace_id, op_no, kind),
    kernels AS (
        SELECT s.trace_id, avg(abs(s.ps - m.ps) / m.ps) AS error
        FROM lasted s JOIN lasted m ON m.trace_id = s.trace_id AND m.op_no = s.op_no AND m.kind = 'measured'
        WHERE s.kind = 'simulated' GROUP BY s.trace_id)
    SELECT t.name, printf('%.2f', 100 * (s.us - m.us) / m.us), printf('%.2f', 100 * k.error)
    FROM trace t JOIN span s ON s.trace_id = t.trace_id AND s.kind = 'simulated'
        JOIN middle m ON m.trace_id = t.trace_id AND m.place = (m.runs + 1) / 2
        JOIN kernels k ON k.trace_id = t.trace_id
    ORDER BY t.name" > "$work/lines"
cat "$work/lines"
awk '
    function add(group) {
        count[group]++; sum[group] += error; kernels[group] += $3
        if (error > worst[group]) worst[group] = error
    }
    {
        split($1, name, "/"); error = $2 < 0 ? -$2 : $2
        if (name[1] == "alone") { add("alone"); next }
        if (name[1] == "warm") { add("warm"); next }
        add("together"); add(seen[name[1]]++ % 2 ? "together-second-half" : "together-first-half")
    }
    END {
        for (group in count)
            printf "figure %s %d %.2f %.2f %.2f\n", group, count[group], sum[group] / count[group],
                worst[group], kernels[group] / count[group]
    }' "$work/lines" | sort
