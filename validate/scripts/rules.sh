#!/bin/sh
# Switch off each rule of the scheduler in turn: validate/scripts/rules.sh SEED [COUNT]
#
# The first COUNT (default: 210) traces that SEED draws are simulated with all rules, then without each one of
# sim/machine/rules.h, and held against validate/recordings/random-SEED.db.zst. Prints a line a rule: its name; traces in which
# it fired; traces whose simulated makespan changes without it, and of these those in which it had not fired (none, or
# the rule is not counted where it acts); of those that change, the mean makespan error without sign, in %, with the
# rule and without it; the same of the GPU's part alone (the host's calls as measured); how many are worse without it, and
# how many better; and what follows:
#   holds      without it the error is larger
#   doubtful   without it the error is no larger: these traces speak against the rule, or for other constants
#   unnoticed  it fired, but no makespan changes
#   unseen     it fired in none of the traces
#   fixed      no key of a device file switches it off
# GRIDTIDE names the program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
seed=$1 count=${2:-210}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GRIDTIDE seed count work
export device="$here/../../sim/devices/h200.ini"

# one NAME [OPTION...]: the traces simulated into NAME.db; trace|makespan|error|GPU's error into NAME.
cat > "$work/one" << 'END'
name=$1
shift
"$GRIDTIDE" validate --random "$count" --draw-seed "$seed" --repeat 2 --measured "$work/measured.db" --blocks off "$@" \
    --format json -o "$work/$name.db" > "$work/$name.json" 2> "$work/$name.log" || { cat "$work/$name.log" >&2; exit 1; }
sqlite3 :memory: "SELECT value->>'trace', value->>'makespan_simulated_us', abs(value->>'makespan_error_pct'),
        abs(coalesce(value->>'makespan_error_gpu_pct', 0))
    FROM json_each(readfile('$work/$name.json'), '\$.traces') WHERE value->>'makespan_error_pct' IS NOT NULL" > "$work/$name"
END
# without NAME KEY=VALUE...: the same on an H200 without that rule.
cat > "$work/without" << 'END'
name=$1
shift
awk -v changes="$*" '
    BEGIN {
        n = split(changes, change, " ")
        for (i = 1; i <= n; i++) { at = index(change[i], "="); to[substr(change[i], 1, at - 1)] = substr(change[i], at + 1) }
    }
    /^\[/ { section = $0; gsub(/[][]/, "", section) }
    { key = $1; sub(/=.*/, "", key) }
    section "." key in to { print key " = " to[section "." key]; next }
    { print }' "$device" > "$work/$name.ini"
sh "$work/one" "$name" --device "$work/$name.ini"
rm "$work/$name.db"
END

zstd -q -d "$here/../recordings/random-$seed.db.zst" -o "$work/measured.db"
sh "$work/one" all
sqlite3 "$work/all.db" "SELECT DISTINCT trace.name, 'rule', substr(counter.name, 6)
    FROM counter JOIN run USING (run_id) JOIN trace USING (trace_id)
    WHERE kind = 'simulated' AND options NOT LIKE '%host=measured%' AND counter.name LIKE 'rule.%'" > "$work/fired"
sqlite3 :memory: "SELECT value->>'rule', value->>'traces', coalesce(value->>'off', '')
    FROM json_each(readfile('$work/all.json'), '\$.rules')" > "$work/rules"
awk -F'|' '$2 > 0 && $3 != "" { print $1, $3 }' "$work/rules" |
    xargs -P "$(nproc)" -L 1 sh "$work/without"
printf '%-16s %6s %8s %7s %6s %9s %5s %8s %6s %7s\n' rule fired changed silent 'with%' 'without%' 'gpu%' 'without%' worse better
while IFS='|' read -r name fired off; do
    [ -f "$work/$name" ] || : > "$work/$name"
    awk -F'|' -v name="$name" -v fired="$fired" -v off="$off" '
        function mean(sum) { return n ? sprintf("%.2f", sum / n) : "-" }
        FILENAME == ARGV[1] { acted[$1, $3] = 1; next }
        FILENAME == ARGV[2] { makespan[$1] = $2; error[$1] = $3; gpu[$1] = $4; next }
        $2 == makespan[$1] { next }
        { n++; silent += !(($1, name) in acted); was += error[$1]; is += $3; gpu_was += gpu[$1]; gpu_is += $4 }
        { worse += $3 > error[$1]; better += $3 < error[$1] }
        END {
            verdict = off == "" ? "fixed" : fired == 0 ? "unseen" : n == 0 ? "unnoticed" : is > was ? "holds" : "doubtful"
            printf "%-16s %6d %8d %7d %6s %9s %5s %8s %6d %7d  %s\n", name, fired, n, silent, mean(was), mean(is),
                mean(gpu_was), mean(gpu_is), worse, better, verdict
        }' "$work/fired" "$work/all" "$work/$name"
done < "$work/rules"
