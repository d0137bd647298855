#!/bin/sh
# Hold today's model against stored measurements, without a GPU: simulate each trace that DATABASE has
# measured runs of, anew, as `gridtide validate` does (what the instrument does to a trace included), and compare
# with the one of median makespan.
#
#   validate/scripts/replay.sh DATABASE FOLDER...    the traces are looked for in the folders
#
# Prints a line a trace (name, signed makespan error, median start error, both in % of the measured
# makespan), then the figures of all: "figure NAME VALUE". GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
[ $# -ge 2 ] || { echo "usage: $0 DATABASE FOLDER..." >&2; exit 2; }
database=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# trace_file NAME FOLDER...: where the trace "family/what" is.
trace_file()
{
    file=$(printf %s "$1" | tr / -).jsonl
    shift
    for folder in "$@"; do
        [ ! -f "$folder/$file" ] || { echo "$folder/$file"; return; }
    done
}

# compare NAME: the run in $work/now.db with the measured ones.
compare()
{
    sqlite3 -separator ' ' "$database" "ATTACH '$work/now.db' AS now;
        WITH measured AS (
            SELECT r.run_id, p.op_no, p.start_ps, p.end_ps
            FROM main.trace t JOIN main.run r USING (trace_id) JOIN main.run_op p USING (run_id)
                JOIN main.op o ON o.trace_id = t.trace_id AND o.op_no = p.op_no
            WHERE t.name = '$1' AND r.kind = 'measured' AND r.whole = 1 AND o.kind <> 'host_function'),
        span AS (
            SELECT run_id, max(end_ps) - min(start_ps) AS length_ps FROM measured GROUP BY run_id),
        middle AS (
            SELECT * FROM span ORDER BY length_ps, run_id LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM span)),
        pair AS (
            SELECT m.start_ps - min(m.start_ps) OVER () AS measured_ps,
                s.start_ps - min(s.start_ps) OVER () AS simulated_ps,
                max(s.end_ps) OVER () - min(s.start_ps) OVER () AS simulated_length_ps
            FROM middle JOIN measured m USING (run_id) JOIN now.run_op s USING (op_no)),
        error AS (
            SELECT abs(simulated_ps - measured_ps) AS error_ps, simulated_length_ps FROM pair ORDER BY 1
            LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM pair))
        SELECT '$1', printf('%.3f', 100.0 * (simulated_length_ps - length_ps) / length_ps),
            printf('%.3f', 100.0 * error_ps / length_ps) FROM error, middle"
}

# figures: of the lines of traces.
figures()
{
    awk '{ printf "makespan %.3f\nstart %.3f\n", $2 < 0 ? -$2 : $2, $3 }' | sort -k 1,1 -k 2,2g | awk '
        { value[$1, ++count[$1]] = $2 }
        function figure(what, name, percent, place) {
            place = int((count[what] * percent + 99) / 100)
            print "figure", what "_error_" name "_pct", value[what, place < 1 ? 1 : place]
        }
        END {
            print "figure traces", count["makespan"] + 0
            if (count["makespan"] == 0)
                exit
            figure("makespan", "median", 50); figure("makespan", "p95", 95); figure("makespan", "worst", 100)
            figure("start", "median", 50); figure("start", "worst", 100)
        }'
}

sqlite3 "$database" "SELECT DISTINCT t.name FROM trace t JOIN run r USING (trace_id)
    WHERE r.kind = 'measured' AND r.whole = 1 ORDER BY t.name" > "$work/names"
while read -r name; do
    file=$(trace_file "$name" "$@")
    [ -n "$file" ] || { echo "$0: no trace '$name' in $*" >&2; exit 1; }
    rm -f "$work/now.db"
    "$GRIDTIDE" validate "$file" --measured "$database" --repeat 1 --blocks off -o "$work/now.db" > /dev/null
    sqlite3 "$work/now.db" "DELETE FROM run_op WHERE run_id <>
        (SELECT min(run_id) FROM run WHERE kind = 'simulated')"
    compare "$name"
done < "$work/names" > "$work/lines"
cat "$work/lines"
figures < "$work/lines"
