#!/bin/sh
# Hold today's model of work that the GPU hands out itself against what H200s did, without a GPU: task graphs that a
# kernel's blocks do (tasks), kernels that blocks launch (children), grids that meet, come early or are polled for
# (meetings), collectives of two GPUs.  The traces were drawn at random and are in the recordings with what became of them, played
# once, when the model was done (others: gridtide validate --random N --families tasks,children,meetings):
#
#   gridtide validate TRACE... --repeat 2 --blocks off -o measured.db        (children: --repeat 3)
#
#   validate/scripts/handed.sh [tasks|children|meetings|collectives|judged-collectives|traffic|judged-traffic|peers|drawn]...
#
# `traffic` are collectives, one rank late or not, beside kernels that work in memory and beside copies (collective_traces.py 5150 60
# FOLDER oneway memory copies), by which the model was fitted; `judged-traffic` (collective_traces.py 60606 56 FOLDER sizes late
# beside buckets oneway memory copies) were played with them and simulated once, when all was done; both with --programs, the
# profiles of traces/scenarios/pairs. Three traces and one with a kernel that those have in two sizes are left out.
# `peers` are kernels in the other GPU's memory (collective_traces.py 7117 24 FOLDER peers), played and simulated once.
# `drawn` is the same of the traces of these families that seed 555 of gridtide validate --random draws (random.sh).
# `judged-collectives` and random.sh 20261123 (these families), 880088 (two GPUs) were played once all was done, and changed nothing.
# Prints a line a family, "FAMILY TRACES MEDIAN P95 WORST" of the makespans' absolute errors in %, and median, p95 and worst
# of the GPU's part alone, with the host's calls as they were measured; then of the
# children how many pairs of kernels start in the wrong order, and of the tasks how often it was right whether a persistent
# kernel beats plain launches, where they differ by more than 3% in reality.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
pairs=$here/../../traces/scenarios/pairs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# figures CSV KIND: what is printed of one kind's comparisons.
figures()
{
    python3 - "$1" "$2" <<'END'
import collections, csv, re, sys

def median(values):
    return sorted(values)[(len(values) - 1) // 2]

def figures(errors):
    errors.sort()
    return "%.2f %.2f %.2f" % (median(errors), errors[int(0.95 * (len(errors) - 1))], errors[-1]) if errors else "- - -"

def line(name, errors):
    print(name, len(errors), figures([whole for whole, gpu in errors]), figures([gpu for whole, gpu in errors if gpu is not None]))

families, pairs = collections.defaultdict(list), collections.defaultdict(dict)
wrong, ordered = 0, 0
for row in csv.DictReader(open(sys.argv[1])):
    if row["makespan_error_pct"] in ("", "-", "null"):
        continue
    name = row["trace"].split("/")[-1]
    pair = re.fullmatch(r"pair-(\d+)-(.*)", name)
    if pair:
        pairs[pair[1]][pair[2]] = (float(row["makespan_measured_us"]), float(row["makespan_simulated_us"]))
    family = "pairs" if pair else re.match("[a-z]*", re.sub(r"^\d+-", "", name))[0] if sys.argv[2] != "children" else "all"
    gpu = row["makespan_error_gpu_pct"]
    error = abs(float(row["makespan_error_pct"])), abs(float(gpu)) if gpu not in ("", "-", "null") else None
    families[family].append(error)
    wrong += int(row["order_wrong"] or 0)
    ordered += int(row["order_pairs"] or 0)
    if sys.argv[2] == "meetings":
        families["all"].append(error)
for family in sorted(families):
    line(sys.argv[2] + "/" + family, families[family])
if sys.argv[2] == "children":
    print("kernels that blocks launch: %d of %d pairs in the wrong order" % (wrong, ordered))
right, differ, points = 0, 0, []
for forms in pairs.values():
    plain = forms.pop("plain", None)
    for measured, simulated in forms.values() if plain else []:
        real, said = plain[0] / measured, plain[1] / simulated
        if abs(real - 1) > 0.03:
            differ += 1
            right += (real > 1) == (said > 1)
            points.append(abs(real - said) * 100)
if differ:
    print("persistent against plain: right in %d of %d, speed-up off by %.1f points in the median" % (right, differ, median(points)))
END
}

[ $# -gt 0 ] || set -- tasks children meetings drawn
for kind; do
    if [ "$kind" = drawn ]; then
        GRIDTIDE=$GRIDTIDE "$here/random.sh" 555 | awk '$1 != "all" { printf "drawn/%s %s %s %s %s\n", $1, $2, $3, $5, $6 }'
        continue
    fi
    archive=$(ls "$here/../recordings/$kind"*.tar.zst) || { echo "usage: $0 [tasks|children|meetings|collectives|judged-collectives|traffic|judged-traffic|peers|drawn]..." >&2; exit 2; }
    zstd -dcq "$archive" | tar -x -C "$work"
    repeat=$(sqlite3 "$work/$kind/measured.db" 'SELECT 1 + max(repetition) FROM run')
    set --
    case $kind in
    *traffic) set -- --programs "$pairs/profile1.jsonl.zst" --programs "$pairs/profile2.jsonl.zst" ;;
    esac
    "$GRIDTIDE" validate "$@" "$work/$kind"/*.jsonl --measured "$work/$kind/measured.db" --repeat "$repeat" --blocks off \
        --format csv -o "$work/$kind.db" > "$work/$kind.csv" 2> "$work/said" || { cat "$work/said" >&2; exit 1; }
    figures "$work/$kind.csv" "$kind"
done
