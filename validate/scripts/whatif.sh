#!/bin/sh
# How far what-ifs are from programs that were changed for real: validate/scripts/whatif.sh [-v] [learn|judge|PROGRAM...]
#
# Each line of traces/pairs/pairs.csv is asked of `gridtide whatif`: of those to learn from and those to judge by, or of one
# sort, or of programs that are named (patterns of the shell). With -v a line a pair:
#   pair TRACE CHANGES BASE-REAL BASE-PREDICTED REAL PREDICTED ERROR% GAIN-REAL% GAIN-PREDICTED% TRUST BOUND-BY
# of times in us a step, one after the other without a wait between; then of each sort lines
#   SORT baseline|all|high|medium|low PAIRS MEDIAN P90 WORST   errors of predicted step times in %, without sign
#   SORT whole PAIRS MEDIAN P90 WORST                          the same of as many steps as were recorded, from the first call to
#                                                              the last end
#   SORT high-within-5 COUNT OF                                answers graded high that are within 5 %
#   SORT signs RIGHT OF                                        real gains, or losses, of more than 3 % predicted as such
#   SORT high-signs-wrong COUNT OF                             the same of those graded high that are wrong
#   SORT best RIGHT OF                                         traces of two changes and more whose best, within 2 %, was predicted best
#   SORT refused COUNT                                         changes that were refused
# GRIDTIDE names the program (default: build/gridtide), PAIRS a folder of another pairs.csv (default: traces/pairs), ENDING that
# of its traces (default: json.gz, of Kineto).
set -euf
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
pairs=${PAIRS:-$here/../../traces/pairs} ending=${ENDING:-json.gz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
verbose=0
if [ "${1:-}" = -v ]; then
    verbose=1
    shift
fi

# chosen TRACE SIDE: is it one of those asked for?
chosen()
{
    [ -n "$asked" ] || return 0
    for pattern in $asked; do
        # shellcheck disable=SC2254 # a pattern it is
        case $2 in $pattern) return 0 ;; esac
        # shellcheck disable=SC2254
        case ${1%%.*} in $pattern) return 0 ;; esac
    done
    return 1
}

# ask TRACE CHANGES OPTIONS: its baseline and prediction of a step in us, and the trust.
ask()
{
    trace=$pairs/$1.$ending options=$3
    # shellcheck disable=SC2086 # changes are words
    set -- $2
    for change; do
        set -- "$@" --change "$change"
        shift
    done
    # shellcheck disable=SC2086 # options are words
    "$GRIDTIDE" whatif -q -f json "$trace" "$@" $options > "$work/answer" 2> "$work/why" || return 1
    jq -r '"\(.step_us) \(.changes[0].step_us) \(.changes[0].trust) \(.changes[0].bound_by) \(.changes[0].predicted_us)"' \
        "$work/answer"
}

asked=$*
sed 1d "$pairs/pairs.csv" | while IFS=, read -r trace changes options _ steps _ _ _ base whole _ _ changed _ side; do
    chosen "$trace" "$side" || continue
    if answer=$(ask "$trace" "$changes" "$options"); then
        echo "$side $trace $(echo "$changes" | tr ' ' +) $base $changed $answer $whole $steps"
    else
        echo "$side $trace $(echo "$changes" | tr ' ' +) $base $changed refused"
        echo "$trace: $changes: $(head -1 "$work/why")" >&2
    fi
done > "$work/answers"

awk -v verbose="$verbose" '
    function size(x) { return x < 0 ? -x : x }
    function error(is, real) { return 100 * (is - real) / real }
    function sort(list, n,   i, j, x) {
        for (i = 2; i <= n; i++) {
            x = list[i]
            for (j = i - 1; j >= 1 && list[j] > x; j--)
                list[j + 1] = list[j]
            list[j + 1] = x
        }
    }
    function add(what, value) { errors[what, ++count[what]] = size(value) }
    function figures(side, what,   n, i, list) {
        n = count[side " " what]
        for (i = 1; i <= n; i++)
            list[i] = errors[side " " what, i]
        sort(list, n)
        if (n > 0)
            printf "%s %s %d %.2f %.2f %.2f\n", side, what, n, list[int((n + 1) / 2)], list[int(n * 0.9 + 0.999)], list[n]
    }
    !($1 in seen) { sides[++side_count] = $1; seen[$1] = 1 }
    $6 == "refused" { refused[$1]++; next }
    {
        gain = error($5, $4); predicted = error($7, $6); off = error($7, $5)
        add($1 " all", off)
        add($1 " " $8, off)
        add($1 " whole", error($10, $11 * $12))
        if (!(($2) in base)) {
            base[$2] = $4
            add($1 " baseline", error($6, $4))
            traces[++trace_count] = $2
            of[$2] = $1
            best_real[$2] = $4
            best_predicted[$2] = $6; taken[$2] = $4
        }
        changes[$2]++
        if ($5 < best_real[$2])
            best_real[$2] = $5
        if ($7 < best_predicted[$2]) {
            best_predicted[$2] = $7
            taken[$2] = $5
        }
        if (size(gain) > 3) {
            moved[$1]++
            right = gain * predicted > 0
            signs[$1] += right
            if ($8 == "high") {
                moved_high[$1]++
                wrong_high[$1] += !right
            }
        }
        if ($8 == "high")
            within[$1] += size(off) <= 5
        if (verbose)
            printf "pair %-28s %-30s %9.1f %9.1f %9.1f %9.1f %7.1f %7.1f %7.1f %s %s\n", $2, $3, $4, $6, $5, $7, off, gain, predicted, $8, $9
    }
    END {
        for (i = 1; i <= trace_count; i++) {
            if (changes[traces[i]] < 2)
                continue
            bests[of[traces[i]]]++
            best[of[traces[i]]] += taken[traces[i]] <= 1.02 * best_real[traces[i]]
        }
        for (i = 1; i <= side_count; i++) {
            side = sides[i]
            figures(side, "baseline"); figures(side, "all"); figures(side, "whole"); figures(side, "high"); figures(side, "medium"); figures(side, "low")
            printf "%s high-within-5 %d %d\n", side, within[side], count[side " high"]
            printf "%s signs %d %d\n", side, signs[side], moved[side]
            printf "%s high-signs-wrong %d %d\n", side, wrong_high[side], moved_high[side]
            printf "%s best %d %d\n", side, best[side], bests[side]
            printf "%s refused %d\n", side, refused[side]
        }
    }' "$work/answers"
