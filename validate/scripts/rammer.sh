#!/bin/sh
# Our table beside Rammer's (Ma et al., OSDI 2020): validate/scripts/rammer.sh [-o PICTURE.svg|png] [NETWORK...]
#
# Each network of traces/networks (default: all six) is simulated as one stream, several streams, a CUDA graph, and as
# Rammer's rProgram with fine and with global barriers. Lines:
#   form NETWORK FORM US UTILISATION% OVERHEAD-US TASKS LAUNCHES
#     time, from the first operation's start to the last one's end; utilisation, the tasks' own time over the time of all
#     workers (workers the SMs hold, also for launches); overhead: of launches, while no kernel ran; of an rProgram, what a
#     worker took for taking, polling and signalling, the mean (-: a store of measured runs does not give that again)
#   beside NETWORK WHAT OURS PAPER
#     ratios, for the paper's GPU is another: speed-up of fine over one stream (RammerBase); gain in utilisation; overhead over that
#     of one stream; graph, several streams and global barriers over one stream or fine ones (the paper has means of all
#     networks: four TensorFlow streams 2.72 times slower than one, fine barriers 1.11 times faster than global ones)
# With -o workers over time of the last network's fine rProgram, drawn by gnuplot: a bar a task, coloured by kind.
# GRIDTIDE names the program (default: build/gridtide), DEVICE the device (default: the networks', h200), POLICY the policy
# (default: wavefront), TIMES a CSV of tasks' times in place of traces/networks/times.csv.
# REAL=1: LSTM and Seq2Seq as they are computed for real (networks.py --real), TIMES then being of those (real_times.csv).
# MEASURED=1 plays on the GPU at hand, MEASURED=STORE.db takes what was measured then: times are measured ones, and there are lines
#   error NETWORK FORM SIMULATED-US ERROR%
#   saved NETWORK FORM MEASURED% SIMULATED% POINTS
#     what part of that form's time the fine rProgram saves, and how far the simulation is from that in points of per cent
# and where the store has not measured a form, missing NETWORK FORM.
set -euf
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
networks=$here/../../traces/networks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
picture=
if [ "${1:-}" = -o ]; then
    picture=$2
    shift 2
fi
[ $# -gt 0 ] || set -- lstm seq2seq resnext nasnet alexnet deepspeech2
run=simulated
[ -z "${MEASURED:-}" ] || run=measured

# options FORM: what makes gridtide schedule write it.
options()
{
    case $1 in
    fine | global) echo "--policy ${POLICY:-wavefront} --barriers $1" ;;
    *) echo "--as $1" ;;
    esac
}

# again TRACE STORE: what was measured of it, as often as that was, into the store.
again()
{
    for repeat in 5 4 3 2 1; do
        rm -f "$2"
        "$GRIDTIDE" validate -q --measured "$MEASURED" --repeat=$repeat "$1" -o "$2" 2> "$work/why" && return
    done
    return 1
}

# play NETWORK FORM: the line of a form; its store stays.
play()
{
    trace=$work/$1-$2.jsonl store=$work/$1-$2.db
    # shellcheck disable=SC2046 # options are words
    "$GRIDTIDE" schedule "$work/$1.graph.jsonl" $(options "$2") ${DEVICE:+--device "$DEVICE"} -f json -o "$trace" > "$work/plan"
    if [ "${MEASURED:-}" = 1 ]; then
        "$GRIDTIDE" validate -q "$trace" -o "$store"
    elif [ $run = measured ]; then
        again "$trace" "$store" || {
            echo "missing $1 $2"
            return
        }
    else
        "$GRIDTIDE" run -q "$trace" -o "$store" > "$work/said"
    fi
    "$GRIDTIDE" stats "$store" --run $run -f json > "$work/stats"
    jq -r -s --arg network "$1" --arg form "$2" '.[0].schedule as $plan | .[1] as $run | $run.summary.makespan_us as $us |
        "form \($network) \($form) \($us * 10 | round / 10) \(1000 * $plan.work_us / $us / $plan.workers | round / 10) " +
        "\((if $run.tasks then $run.tasks.overhead_us elif $plan.policy then null else $run.summary.gpu_idle_us end |
            if . then . * 10 | round / 10 else "-" end)) " +
        "\($plan.tasks) \($plan.launches)"' "$work/plan" "$work/stats"
    [ $run = simulated ] || "$GRIDTIDE" stats "$store" --run simulated -f json |
        jq -r -s --arg network "$1" --arg form "$2" '.[0].summary.makespan_us as $real | .[1].summary.makespan_us as $us |
            "error \($network) \($form) \($us * 10 | round / 10) \(1000 * ($us - $real) / $real | round / 10)"' "$work/stats" -
}

# saved NETWORK: lines of errors, about its fine rProgram.
saved()
{
    awk -v network="$1" '
        $1 == "form" && $2 == network { real[$3] = $4 }
        $1 == "error" && $2 == network { said[$3] = $4 }
        END {
            split("stream streams graph global", forms, " ")
            for (i = 1; i <= 4 && said["fine"] > 0; i++) {
                form = forms[i]
                if (said[form] == "")
                    continue
                one = 100 * (1 - real["fine"] / real[form])
                other = 100 * (1 - said["fine"] / said[form])
                printf "saved %s %s %.1f %.1f %.1f\n", network, form, one, other, one > other ? one - other : other - one
            }
        }' "$work/forms"
}

# beside NETWORK: ratios of its forms, and of the paper's line of it.
beside()
{
    awk -v network="$1" '
        FILENAME ~ /paper.csv$/ { if (split($0, field, ",") > 6 && field[1] == network) for (i in field) paper[i] = field[i]; next }
        $1 == "form" && $2 == network { us[$3] = $4; used[$3] = $5; overhead[$3] = $6 }
        function tell(what, ours, theirs) { print "beside", network, what, ours == "-" ? ours : sprintf("%.2f", ours), theirs }
        function over(of, a, b) { return of[a] + 0 > 0 && of[b] + 0 > 0 ? of[a] / of[b] : "-" }
        function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
        END {
            tell("speed-up", over(us, "stream", "fine"), ratio(paper[6], paper[7]))
            tell("utilisation", over(used, "fine", "stream"), ratio(paper[11], paper[10]))
            tell("overhead", over(overhead, "fine", "stream"), ratio(paper[13], paper[12]))
            tell("fine-over-global", over(us, "global", "fine"), "1.11")
            tell("streams-slower", over(us, "streams", "stream"), "2.72")
            tell("graph-slower-than-fine", over(us, "graph", "fine"), "-")
        }' "$networks/paper.csv" "$work/forms"
}

# draw STORE: workers over time.
draw()
{
    sqlite3 -separator "	" "$1" "SELECT worker, start_us - (SELECT min(asked_us) FROM task_time WHERE run_kind = '$run'),
        end_us - start_us, dense_rank() OVER (ORDER BY kind) FROM task_time WHERE run_kind = '$run'
        AND run_id = (SELECT max(run_id) FROM run WHERE kind = '$run')" > "$work/tasks.tsv"
    sqlite3 "$1" "SELECT DISTINCT kind FROM task_time ORDER BY kind" > "$work/kinds"
    awk '{ printf "kind%d = \"%s\"\n", NR, $0 } END { print "kinds = " NR }' "$work/kinds" > "$work/kinds.gp"
    gnuplot -e "tasks = '$work/tasks.tsv'; picture = '$picture'; title_text = '$2'; load '$work/kinds.gp'" \
        "$here/rammer.gp"
}

: > "$work/forms"
for network; do
    # shellcheck disable=SC2086 # no times: those that are shipped
    case ${REAL:-}$network in
    1lstm | 1seq2seq) python3 "$networks/networks.py" --real "$network" ${TIMES:-} > "$work/$network.graph.jsonl" ;;
    *) python3 "$networks/networks.py" "$network" ${TIMES:-} > "$work/$network.graph.jsonl" ;;
    esac
    for form in stream streams graph global fine; do
        play "$network" "$form" | tee -a "$work/forms"
    done
done
for network; do
    beside "$network"
    saved "$network"
done
[ -z "$picture" ] || draw "$work/$network-fine.db" "$network, rProgram, fine barriers, $run"
