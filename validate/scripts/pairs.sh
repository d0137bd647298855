#!/bin/sh
# How much do kernels slow each other down, measured and simulated, without a GPU:
# validate/scripts/pairs.sh [DATABASE]
#
# The scenarios of traces/scenarios/pairs against DATABASE (pairs.db): a line a kernel of a pair: the pair, the
# kernel, how many times as long it took as alone (scenario single/KERNEL), measured and simulated; both are
# medians. Then of all kernels "figure slower KERNELS MEDIAN MEAN", of how far simulated is from measured, in %
# of measured, and of the errors of the pairs' makespans "figure makespan PAIRS MEDIAN MEAN", without sign. Of the
# two simulations of a trace that with simulated calls counts.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
here=$(cd "$(dirname "$0")" && pwd)
pairs=$here/../../traces/scenarios/pairs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# slower STORE: a line a kernel of a pair. Kernels go by the key of their trace, which is their scenario's name.
slower()
{
    sqlite3 -separator ' ' "$1" "
    WITH timed AS (
        SELECT t.name, r.kind, r.run_id, o.op_no,
            row_number() OVER (PARTITION BY t.name, r.kind, o.op_no ORDER BY p.end_ps - p.start_ps) AS place,
            count(*) OVER (PARTITION BY t.name, r.kind, o.op_no) AS runs, p.end_ps - p.start_ps AS ps
        FROM run r JOIN trace t USING (trace_id) JOIN run_op p USING (run_id)
            JOIN op o ON o.trace_id = t.trace_id AND o.op_no = p.op_no
        WHERE r.options NOT LIKE '%host=measured%'),
    middle AS (SELECT name, kind, op_no, ps FROM timed WHERE place = (runs + 1) / 2),
    pair AS (
        SELECT name, kind, op_no, ps, substr(name, 6, instr(name, '-and-') - 6) AS first,
            substr(name, instr(name, '-and-') + 5) AS second FROM middle WHERE name LIKE 'pair/%'),
    slower AS (
        SELECT p.name, p.kind, p.op_no, s.name AS single, 1.0 * p.ps / s.ps AS times
        FROM pair p JOIN middle s ON s.kind = p.kind
            AND s.name = 'single/' || CASE p.op_no WHEN 0 THEN p.first ELSE p.second END)
    SELECT m.name, substr(m.single, 8), printf('%.3f', m.times), printf('%.3f', s.times)
    FROM slower m JOIN slower s ON s.name = m.name AND s.op_no = m.op_no AND s.kind = 'simulated'
    WHERE m.kind = 'measured' ORDER BY m.name, m.op_no"
}

# makespans STORE: of each pair, the error in % of the measured run of median makespan.
makespans()
{
    sqlite3 "$1" "
    WITH span AS (
        SELECT t.name, r.kind, max(p.end_ps) - min(p.start_ps) AS ps
        FROM run r JOIN trace t USING (trace_id) JOIN run_op p USING (run_id)
        WHERE t.name LIKE 'pair/%' AND r.options NOT LIKE '%host=measured%' GROUP BY r.run_id),
    placed AS (
        SELECT *, row_number() OVER (PARTITION BY name, kind ORDER BY ps) AS place,
            count(*) OVER (PARTITION BY name, kind) AS runs FROM span)
    SELECT 100.0 * (s.ps - m.ps) / m.ps
    FROM placed m JOIN placed s ON s.name = m.name AND s.kind = 'simulated'
    WHERE m.kind = 'measured' AND m.place = (m.runs + 1) / 2"
}

# figure NAME: of errors in %, a line each.
figure()
{
    awk '{ print $1 < 0 ? -$1 : $1 }' | sort -g | awk -v name="$1" '
        { value[NR] = $1; sum += $1 }
        END { printf "figure %s %d %.2f %.2f\n", name, NR, value[int((NR + 1) / 2)], sum / NR }'
}

"$GRIDTIDE" validate -q --programs "$pairs/profile1.jsonl.zst" \
    --programs "$pairs/profile2.jsonl.zst" --cost program --measured "${1:-$here/../recordings/pairs.db}" --blocks off \
    "$pairs"/*.jsonl -o "$work/now.db"
slower "$work/now.db" | tee "$work/lines"
awk '{ print 100 * ($4 - $3) / $3 }' "$work/lines" | figure slower
makespans "$work/now.db" | figure makespan
