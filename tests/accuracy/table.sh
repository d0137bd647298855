#!/bin/sh
# How near Gridtide comes to what GPUs were recorded to do, group by group, as tables under version control.
#
#   tests/accuracy/table.sh check|write GROUP...     (quick: all groups that take a few seconds; all: all groups)
#
# `check` compares what the group's scripts print with tests/accuracy/GROUP.txt: the same lines, numbers within 1% or 0.02; it prints
# lines that differ and ends with 1.  `write` replaces the tables: commit them with the change that explains them.
# GRIDTIDE names the program (default: build/gridtide).
set -efu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export GRIDTIDE="${GRIDTIDE:-$source/build/gridtide}"
quick="replays random handed gpus kernels programs whatifs"
slow="shapes serving published random-all whatifs-all protocols training late pairs sharing arrivals"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run COMMAND...: the command's name and what it prints.
run()
{
    echo "# $*"
    (cd "$source" && "$@") 2>&1
}

replay_programs()
{
    find "$source/traces/recorded_programs" -name '*.jsonl.gz' | sort | while read -r file; do
        "$GRIDTIDE" run -q "$file" -o "$work/run.db" > "$work/run"
        "$GRIDTIDE" compare "$work/run.db" -f csv | awk -F, -v name="$(basename "$file")" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print name, $(at["makespan_error_pct"]) }'
        rm "$work/run.db"
    done
}

table()
{
    case $1 in
    replays)
        run sh tests/accuracy.sh traces/samples
        run sh tests/accuracy.sh traces/branches
        echo '# traces/recorded_programs: makespan, %'
        replay_programs
        ;;
    random)
        run validate/scripts/random.sh 2026 42
        run validate/scripts/random.sh 90210 42
        ;;
    handed)
        run validate/scripts/handed.sh tasks children meetings
        run validate/scripts/handed.sh drawn
        zstd -q -d "$source/validate/recordings/handed.db.zst" -o "$work/handed.db"
        echo '# validate/scripts/replay.sh validate/recordings/handed.db.zst traces/scenarios/handed'
        "$source/validate/scripts/replay.sh" "$work/handed.db" "$source/traces/scenarios/handed"
        ;;
    shapes)
        run validate/scripts/shapes.py traces/shapes/fresh
        run validate/scripts/shapes.py traces/shapes/fresh --only '[!z]*'
        run validate/scripts/shapes.py traces/shapes/again
        run validate/scripts/shapes.py traces/shapes/again --only '[!z]*'
        run validate/scripts/shapes.py traces/shapes/widths
        run validate/scripts/shapes.py traces/shapes/limits --memory
        run validate/scripts/shapes.py traces/shapes/limits-fresh --memory
        ;;
    serving)
        run validate/scripts/serving.py traces/serving/wide traces/serving/middle traces/serving/wide-again
        run validate/scripts/serving.py traces/serving/wide-lanes
        run validate/scripts/serving.py traces/serving/middle-lanes
        ;;
    published) run validate/scripts/published.py ;;
    gpus)
        run validate/scripts/gpus.sh
        run validate/scripts/handed.sh collectives traffic peers
        run validate/scripts/collectives.py
        ;;
    kernels)
        run traces/profiles/figures.sh
        run traces/profiles/gains.sh
        run validate/scripts/pairs.sh
        ;;
    programs) run validate/scripts/programs.sh ;;
    whatifs)
        run validate/scripts/whatif.sh layers-uneven chains-wide graph-wide towers-middle towers-attention
        run validate/scripts/protocols.py traces/protocols/d --only '*.0'
        run validate/scripts/whatif_recorded.py 'chains-*' 'graph-*' 'layers-*' 'priority-*' 'pipeline-*' 'mixer-*' 'feeds-*' mlp-large \
            training-large gpt-large unet-large rank coats lattice
        run validate/scripts/whatif_recorded.py --alone
        ;;
    random-all)
        for seed in 2026 90210 77031 20261123 314159 4242 20261128 7004213; do
            run validate/scripts/random.sh "$seed"
        done
        run validate/scripts/replay.sh validate/recordings/h200.db traces/scenarios traces/samples
        ;;
    whatifs-all)
        run validate/scripts/whatif.sh
        run validate/scripts/whatif.sh fresh
        run validate/scripts/whatif_recorded.py
        ;;
    protocols)
        for set in c d record-c record-d record-e; do
            run validate/scripts/protocols.py "traces/protocols/$set"
        done
        ;;
    training) run traces/training/figures.sh ;;
    late) run traces/training/late.sh ;;
    pairs)
        run validate/scripts/pairs_drawn.sh
        run validate/scripts/pairs_drawn.sh validate/recordings/pairs-h200-43.tar.zst h200
        run validate/scripts/pairs_drawn.sh validate/recordings/pairs-h200-271.tar.zst h200
        run validate/scripts/pairs_drawn.sh validate/recordings/pairs-h200-1009.tar.zst h200
        run validate/scripts/pairs_drawn.sh validate/recordings/pairs-h200-2718.tar.zst h200
        ;;
    arrivals)
        echo '# validate/scripts/arrivals.py judge validate/recordings/arrivals-h200.tar.zst: figures'
        validate/scripts/arrivals.py judge validate/recordings/arrivals-h200.tar.zst | grep '^figure'
        ;;
    sharing)
        for mode in sliced mps percent; do
            run validate/scripts/sharing.py judge validate/recordings/sharing-h200.tar.zst $mode 3,4
        done
        ;;
    *)
        echo "table.sh: there is no group '$1': $quick $slow" >&2
        exit 2
        ;;
    esac
}

# differ WAS IS: the lines that are not the same, but for numbers that are nearly.
differ()
{
    awk '
        function number(text) { sub(/%[,;]?$/, "", text); return text ~ /^[+-]?[0-9]+([.][0-9]+)?$/ ? text + 0 : "" }
        function near(a, b, off) { off = a > b ? a - b : b - a; return off <= 0.02 || off <= 0.01 * (a < 0 ? -a : a) }
        function same(a, b, n, m, x, y, i) {
            n = split(a, x); m = split(b, y)
            if (n != m) return 0
            for (i = 1; i <= n; i++)
                if (x[i] != y[i] && (number(x[i]) == "" || number(y[i]) == "" || !near(number(x[i]), number(y[i])))) return 0
            return 1
        }
        FNR == NR { was[FNR] = $0; lines = FNR; next }
        { last = FNR }
        !same(was[FNR], $0) { print "was " was[FNR]; print "is  " $0; wrong = 1 }
        END { for (i = last + 1; i <= lines; i++) { print "was " was[i]; wrong = 1 } exit wrong }' "$1" "$2"
}

case ${1:-} in check | write) mode=$1 ;; *) mode= ;; esac
[ -n "$mode" ] && [ $# -ge 2 ] || { echo "Usage: table.sh check|write quick|all|GROUP..." >&2; exit 2; }
shift
status=0
for group in "$@"; do
    case $group in quick) groups=$quick ;; all) groups="$quick $slow" ;; *) groups=$group ;; esac
    for one in $groups; do
        table "$one" > "$work/$one"
        if [ "$mode" = write ]; then
            cp "$work/$one" "$here/$one.txt"
        else
            differ "$here/$one.txt" "$work/$one" || { echo "tests/accuracy/$one.txt: differs"; status=1; }
        fi
    done
done
exit $status
