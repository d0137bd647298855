#!/bin/sh
# What each rule of the scheduler is good for: validate/scripts/rules.sh [-n COUNT] [-r RULE]... [-o RULES.csv] [RECORDING...]
#
# Simulates what each RECORDING holds with all rules, then without each one of sim/machine/rules.h that a key of a device file
# switches off, and holds both against what H200s did.  RECORDING: the seed of validate/recordings/random-SEED.db.zst, suite
# (h200.db), or another row of the table in arguments(); default: all.  -n: only the first COUNT traces of each (default: 420;
# 0: all).  -r: only that rule.  -o: also replace its lines in that file: validate/recordings/rules.csv, of all recordings, after
# twenty minutes on two cores, is what validate/RULES.md is made from.  Prints CSV, a line a rule, over all recordings together:
#   recordings   those in which it changes a makespan
#   fired        traces in which it acted
#   n            traces whose makespan changes without it
#   with, without           their mean makespan error without sign, in %
#   gpu_with, gpu_without   the same with the host's calls as measured: the GPU's part
#   worse, better           how many of them are further from, and nearer to, what was measured without it
#   verdict:
#     holds      without it the error of the whole is larger, or (rules that act on the GPU) the GPU's part is
#     doubtful   it is not: these traces speak against the rule, or for other constants
#     unnoticed  it acted, but no makespan changes
#     unseen     it acted in none of the traces
#     fixed      no key switches it off
# GRIDTIDE names the program (default: build/gridtide); TRACES=FILE keeps a line a rule and trace that changes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export GRIDTIDE="${GRIDTIDE:-$source/build/gridtide}"
all="2026 1122 90210 77031 555 20261123 880088 314159 4242 suite gpus handed pairs programs
    tasks children meetings collectives judged-collectives traffic judged-traffic peers"
count=420 only='' csv=''
while getopts n:r:o: option; do
    case $option in
    n) count=$OPTARG ;;
    r) only="$only $OPTARG" ;;
    o) csv=$OPTARG ;;
    *) sed -n 's/^# What each.*: //p' "$0" >&2; exit 2 ;;
    esac
done
[ "$count" != 0 ] || count=''
shift $((OPTIND - 1))
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $all
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work device="$work/h200.ini"

# Without noise of the host there is no need to draw it: makespans are those without, ranges are not looked at.
sed -E 's/^(noise_[a-z_]*|interrupts_per_ms) = .*/\1 = 0/' "$source/sim/devices/h200.ini" > "$device"

# files FOLDER [PATTERN]: its traces, a line each.
files()
{
    find "$1" -maxdepth 1 -name "${2:-*.jsonl}" | sort | if [ -n "$count" ]; then head -n "$count"; else cat; fi
}

# unpack RECORDING FILE: to measured.db.
unpack()
{
    case $2 in
    *.zst) zstd -q -d "$2" -o "$work/$1/measured.db" ;;
    *) cp "$2" "$work/$1/measured.db" ;;
    esac
}

# arguments RECORDING: what gridtide validate is given, a line each.
arguments()
{
    recordings=$source/validate/recordings scenarios=$source/traces/scenarios
    case $1 in
    [0-9]*)
        unpack "$1" "$recordings/random-$1.db.zst"
        drawn=$(sqlite3 "$work/$1/measured.db" "SELECT count(*) FROM trace")
        printf '%s\n' --draw-seed "$1" --families "$(sqlite3 "$work/$1/measured.db" "
            WITH drawn AS (SELECT trace_id, substr(name, instr(name, '/') + 1) AS name FROM trace)
            SELECT group_concat(family) FROM (SELECT substr(name, 1, instr(name, '-') - 1) AS family FROM drawn
                GROUP BY family ORDER BY min(trace_id))")" --random "$([ -n "$count" ] && [ "$count" -lt "$drawn" ] && echo "$count" || echo "$drawn")" ;;
    suite)
        unpack "$1" "$recordings/h200.db"
        sqlite3 "$work/$1/measured.db" "SELECT replace(name, '/', '-') || '.jsonl' FROM trace" > "$work/$1/files"
        { files "$scenarios"; files "$source/traces/samples"; } | awk -F/ '
            FILENAME == ARGV[1] { measured[$0] = 1; next } $NF in measured' "$work/$1/files" - ;;
    gpus) unpack "$1" "$recordings/gpus.db.zst"; files "$scenarios/gpus" ;;
    handed) unpack "$1" "$recordings/handed.db.zst"; files "$scenarios/handed" ;;
    pairs)
        unpack "$1" "$recordings/pairs.db"
        printf '%s\n' --cost program --programs "$scenarios/pairs/profile1.jsonl.zst" --programs "$scenarios/pairs/profile2.jsonl.zst"
        files "$scenarios/pairs" ;;
    programs)
        unpack "$1" "$recordings/programs.db"
        printf '%s\n' --cost program --programs "$source/traces/profiles/programs.jsonl.zst"
        files "$scenarios/programs" ;;
    tasks | children | meetings | collectives | judged-collectives | traffic | judged-traffic | peers)
        zstd -dcq "$(find "$recordings" -name "$1-[0-9]*.tar.zst" -o -name "$1.tar.zst")" | tar -x -C "$work"
        case $1 in
        *traffic) printf '%s\n' --programs "$scenarios/pairs/profile1.jsonl.zst" --programs "$scenarios/pairs/profile2.jsonl.zst" ;;
        esac
        files "$work/$1" ;;
    *) echo "rules.sh: there is no recording '$1': $all" >&2; exit 2 ;;
    esac
}

# one RECORDING NAME DEVICE MEASURED: simulated into NAME.db; trace|makespan|error|GPU's error into NAME.
cat > "$work/one" << 'END'
at=$work/$1
repeat=$(sqlite3 "$4" "SELECT max(repetition) + 1 FROM run WHERE kind = 'measured'")
xargs -d '\n' -a "$at/arguments" "$GRIDTIDE" validate --repeat "$repeat" --measured "$4" --blocks off --device "$3" \
    --format json -o "$at/$2.db" > "$at/$2.json" 2> "$at/$2.log" || { cat "$at/$2.log" >&2; exit 1; }
sqlite3 :memory: "SELECT value->>'trace', value->>'makespan_simulated_us', abs(value->>'makespan_error_pct'),
        abs(coalesce(value->>'makespan_error_gpu_pct', 0))
    FROM json_each(readfile('$at/$2.json'), '\$.traces') WHERE value->>'makespan_error_pct' IS NOT NULL" > "$at/$2"
END
# without RECORDING RULE KEY=VALUE...: the same on an H200 without that rule. What the host's calls took when the traces were
# played is in the store, so that a key of the host is changed there too.
cat > "$work/without" << 'END'
recording=$1 rule=$2
shift 2
at=$work/$recording measured=$work/$recording/measured.db
awk -v changes="$*" '
    BEGIN {
        n = split(changes, change, " ")
        for (i = 1; i <= n; i++) { at = index(change[i], "="); to[substr(change[i], 1, at - 1)] = substr(change[i], at + 1) }
    }
    /^\[/ { section = $0; gsub(/[][]/, "", section) }
    { key = $1; sub(/=.*/, "", key) }
    section "." key in to { print key " = " to[section "." key]; next }
    { print }' "$device" > "$at/$rule.ini"
case $* in
*host.*)
    measured=$at/$rule-measured.db
    cp "$at/measured.db" "$measured"
    for change; do
        sqlite3 "$measured" "UPDATE device_key SET value = '${change#*=}' WHERE key = '${change%%=*}' AND key LIKE 'host.%'"
    done ;;
esac
sh "$work/one" "$recording" "$rule" "$at/$rule.ini" "$measured"
rm -f "$at/$rule.db" "$at/$rule-measured.db"
END

# name|keys that switch it off|file
sed -n 's/^ *RULE([A-Z_]*, "\([^"]*\)", \(NULL\|"[^"]*"\), "\([^"]*\)", .*/\1|\2|\3/p' "$source/sim/machine/rules.h" |
    sed 's/|NULL|/||/; s/"//g' | awk -F'|' -v only="$only " 'only == " " || index(only, " " $1 " ")' > "$work/rules"
: > "$work/fired"
: > "$work/changed"
for recording; do
    at=$work/$recording
    mkdir -p "$at"
    arguments "$recording" > "$at/arguments"
    sqlite3 "$at/measured.db" "UPDATE device_key SET value = '0' WHERE key LIKE 'host.noise_%' OR key = 'host.interrupts_per_ms'"
    sh "$work/one" "$recording" all "$device" "$at/measured.db"
    sqlite3 -separator ' ' "$at/all.db" "SELECT substr(counter.name, 6), count(DISTINCT trace.name)
        FROM counter JOIN run USING (run_id) JOIN trace USING (trace_id)
        WHERE kind = 'simulated' AND options NOT LIKE '%host=measured%' AND counter.name LIKE 'rule.%' GROUP BY 1" > "$at/fired"
    awk -F'|' 'FILENAME == ARGV[1] { split($0, of, " "); fired[of[1]] = 1; next } $1 in fired && $2 != "" { print $1, $2 }' \
        "$at/fired" "$work/rules" | sed "s/^/$recording /" | xargs -r -P "$(nproc)" -L 1 sh "$work/without"
    awk -v recording="$recording" '{ print $1 "|" recording "|" $2 }' "$at/fired" >> "$work/fired"
    while IFS='|' read -r rule _; do
        [ -f "$at/$rule" ] || continue
        awk -F'|' -v OFS='|' -v rule="$rule" -v recording="$recording" '
            FILENAME == ARGV[1] { makespan[$1] = $2; error[$1] = $3; gpu[$1] = $4; next }
            $2 != makespan[$1] { print rule, recording, $1, error[$1], $3, gpu[$1], $4 }' "$at/all" "$at/$rule" >> "$work/changed"
    done < "$work/rules"
    rm -rf "$at"
    echo "rules.sh: $recording" >&2
done
[ -z "${TRACES:-}" ] || cp "$work/changed" "$TRACES"

awk -F'|' -v OFS=, '
    function mean(sum) { return n[rule] ? sprintf("%.3f", sum / n[rule]) : "" }
    FILENAME == ARGV[1] { fired[$1] += $3; next }
    FILENAME == ARGV[2] {
        if (!(($1, $2) in seen)) { seen[$1, $2] = 1; where[$1] = where[$1] (where[$1] == "" ? "" : " ") $2 }
        n[$1]++; was[$1] += $4; is[$1] += $5; gpu_was[$1] += $6; gpu_is[$1] += $7
        worse[$1] += $5 > $4; better[$1] += $5 < $4; next
    }
    {
        rule = $1; gpu = $3 ~ /^(gpu|links|rates)\// && gpu_is[rule] > gpu_was[rule]
        verdict = $2 == "" ? "fixed" : !fired[rule] ? "unseen" : !n[rule] ? "unnoticed" : is[rule] > was[rule] || gpu ? "holds" : "doubtful"
        print rule, where[rule], fired[rule] + 0, n[rule] + 0, mean(was[rule]), mean(is[rule]), mean(gpu_was[rule]), mean(gpu_is[rule]),
            worse[rule] + 0, better[rule] + 0, verdict
    }' "$work/fired" "$work/changed" "$work/rules" > "$work/lines"
heading=rule,recordings,fired,n,with,without,gpu_with,gpu_without,worse,better,verdict
{ echo $heading; cat "$work/lines"; } | tee "$work/csv"
[ -n "$csv" ] || exit 0
# Lines of rules that were not measured now stay, in the order of rules.h.
[ -f "$csv" ] || : > "$csv"
sed -n 's/^ *RULE([A-Z_]*, "\([^"]*\)".*/\1/p' "$source/sim/machine/rules.h" > "$work/names"
awk -F, -v heading=$heading '
    FILENAME != ARGV[3] { line[$1] = $0; next }
    FNR == 1 { print heading }
    $1 in line { print line[$1] }' "$csv" "$work/csv" "$work/names" > "$work/merged"
cp "$work/merged" "$csv"
