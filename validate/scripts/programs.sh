#!/bin/sh
# Hold timelines whose kernels last as their machine code says against stored measurements, without a GPU:
# validate/scripts/programs.sh [DATABASE]
#
# The scenarios of traces/scenarios/programs against DATABASE (programs.db), and the PyTorch samples against
# what their traces recorded. Prints a line a trace: name, signed error of the makespan in %, mean error of
# its kernels' durations in %; then, of kernels alone, kernels together, the latter's first and second half
# (every second name of a family) and the samples: "figure NAME TRACES MEDIAN MEAN WORST KERNELS": of the
# error of the makespan, and the mean over the traces of the mean error of their kernels' durations, all
# without sign, in %. GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
here=$(cd "$(dirname "$0")" && pwd)
traces=$here/../../traces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# errors STORE: a line a trace of what was simulated against the measured run of median makespan.
errors()
{
    sqlite3 -separator ' ' "$1" "
    WITH timed AS (
        SELECT r.run_id, r.trace_id, r.kind, o.op_no, o.kind = 'kernel' AS is_kernel, p.start_ps, p.end_ps
        FROM run r JOIN run_op p USING (run_id) JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no
        WHERE r.run_id NOT IN (SELECT value FROM counter WHERE name = 'without_run_id')
            AND r.options NOT LIKE '%host=measured%'),
    span AS (
        SELECT run_id, trace_id, kind, max(end_ps) - min(start_ps) AS ps FROM timed GROUP BY run_id),
    middle AS (
        SELECT trace_id, ps, row_number() OVER (PARTITION BY trace_id ORDER BY ps) AS place,
            count(*) OVER (PARTITION BY trace_id) AS runs
        FROM span WHERE kind = 'measured'),
    lasted AS (
        SELECT trace_id, op_no, kind, avg(end_ps - start_ps) AS ps
        FROM timed WHERE is_kernel GROUP BY trace_id, op_no, kind),
    kernels AS (
        SELECT s.trace_id, avg(abs(s.ps - m.ps) / m.ps) AS error
        FROM lasted s JOIN lasted m ON m.trace_id = s.trace_id AND m.op_no = s.op_no AND m.kind = 'measured'
        WHERE s.kind = 'simulated' GROUP BY s.trace_id)
    SELECT t.name, printf('%.2f', 100.0 * (s.ps - m.ps) / m.ps), printf('%.2f', 100 * k.error)
    FROM trace t JOIN span s ON s.trace_id = t.trace_id AND s.kind = 'simulated'
        JOIN middle m ON m.trace_id = t.trace_id AND m.place = (m.runs + 1) / 2
        JOIN kernels k ON k.trace_id = t.trace_id
    ORDER BY t.name"
}

figures()
{
    awk '
    { split($1, name, "/"); error = $2 < 0 ? -$2 : $2 }
    name[2] == "" { print "samples", error, $3; next }
    name[1] == "alone" || name[1] == "warm" { print name[1], error, $3; next }
    { print "together", error, $3; print seen[name[1]]++ % 2 ? "second-half" : "first-half", error, $3 }
    ' | sort -k 1,1 -k 2,2g | awk '
    { count[$1]++; errors[$1, count[$1]] = $2; sum[$1] += $2; kernels[$1] += $3 }
    END {
        for (name in count) {
            n = count[name]
            median = errors[name, int((n + 1) / 2)]
            printf "figure %s %d %.2f %.2f %.2f %.2f\n", name, n, median, sum[name] / n, errors[name, n],
                kernels[name] / n
        }
    }' | sort
}

gridtide=$GRIDTIDE
"$gridtide" validate -q --programs "$traces/profiles/programs.jsonl.zst" --cost program \
    --measured "${1:-$here/../recordings/programs.db}" --blocks off "$traces"/scenarios/programs/*.jsonl -o "$work/now.db"
errors "$work/now.db" > "$work/lines"
for sample in "$traces"/samples/pytorch-*.json.gz; do
    "$gridtide" run -q --programs "$traces/profiles/samples.jsonl.zst" \
        --programs "$traces/profiles/samples2.jsonl.zst" --cost program "$sample" \
        -o "$work/one.db"
    errors "$work/one.db" >> "$work/lines"
done
cat "$work/lines"
figures < "$work/lines"
