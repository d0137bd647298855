# Answers about what was not recorded: what is printed, and what is refused.

setup()
{
    folder=$(mktemp -d)
    trace="$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz"
}

teardown()
{
    rm -r "$folder"
}

# answer OPTION...: JSON of what the trace would take.
answer()
{
    "$GRIDTIDE" whatif "$trace" -q -f json "$@"
}

@test "an answer has every field" {
    answer --change connections=1 > "$folder/json"
    python3 - "$folder/json" <<- 'END'
	import json, sys
	answer = json.load(open(sys.argv[1]))
	for field in "trace measured_us replay_us baseline_us steps changes".split():
	    assert field in answer, field
	(change,) = answer["changes"]
	for field in "change predicted_us step_us change_pct trust assumptions bound_by".split():
	    assert field in change, field
	assert change["change"] == "connections=1" and change["trust"] in ("high", "medium", "low")
	assert abs(answer["replay_us"] / answer["measured_us"] - 1) < 0.01
	END
}

@test "all changes of a command are one scenario" {
    answer --change connections=1 --change launch-cost=9 > "$folder/json"
    grep -q '"change": "connections=1 + launch-cost=9"' "$folder/json"
    [ "$(grep -c predicted_us "$folder/json")" = 1 ]
}

@test "short names of keys are those keys" {
    times() { answer "$@" | grep predicted_us; }
    [ "$(times --change connections=1)" = "$(times --change scheduling.connections=1)" ]
    [ "$(times --change launch-cost=9)" = "$(times --change host.launch_call_us=9)" ]
}

@test "people and programs get the same answers" {
    "$GRIDTIDE" whatif "$trace" -q --change launch-cost=9 > "$folder/table"
    grep -q '^launch-cost=9  *[0-9]' "$folder/table"
    "$GRIDTIDE" whatif "$trace" -q --change launch-cost=9 -f csv | grep -q '^changes,launch-cost=9,[0-9]'
}

# predicted OPTION...: whole microseconds.
predicted()
{
    answer "$@" | sed -n 's/.*"predicted_us": \([0-9]*\).*/\1/p'
}

# about FROM TO TIME
about()
{
    [ "$1" -le "$3" ] && [ "$3" -le "$2" ]
}

@test "kernels scaled or left out in one stream: eight of 80 us, between gaps" {
    trace="$GRIDTIDE_SOURCE/traces/samples/overlap-1-stream.jsonl"
    before=$(predicted --change kernel=smooth*1)
    about $((before + 639)) $((before + 641)) "$(predicted --change kernel=smooth*2)"
    about $((before - 321)) $((before - 319)) "$(predicted --change kernel=moot*0.5)"
    # a removed kernel leaves its 80 us, and two changes of engine become one
    about $((before - 8 * 90)) $((before - 8 * 80)) "$(predicted --change remove=smooth)"
}

@test "a priority lets an urgent stream pass behind a wave, and not before" {
    trace="$GRIDTIDE_SOURCE/traces/samples/priority-inversion.jsonl"
    [ "$(predicted --change priority=low:0)" = "$(predicted --change connections=8)" ]
    [ "$(predicted --change priority=plain:-5)" -lt "$(predicted --change priority=plain:0)" ]
    trace="$GRIDTIDE_SOURCE/traces/samples/cuda-priority.json.gz"
    answer --change priority=245:-1 > "$folder/json"
    grep -q 'The profile has no stream priorities' "$folder/json"
}

@test "a lesser GPU is slower, whatever bounds the kernels, and says what they were taken to be bound by" {
    for trace in "$GRIDTIDE_SOURCE"/traces/samples/*.json.gz; do
        about 0 "$(predicted --change device=h100)" "$(predicted --change device=h200)"
        about 0 "$(predicted --change device=a100)" "$(predicted --change device=h200)"
    done
    answer --change device=a100 | grep -q '"trust": "low"'
    answer --change device=a100 | grep -q 'assumed bound by .*kernel launches, [0-9]*% of kernel time, x[0-9.]*'
}

@test "--all ranks what applies, and its first lines are the three best" {
    trace="$GRIDTIDE_SOURCE/traces/pairs/batches-wide.pageable.json.gz"
    "$GRIDTIDE" whatif "$trace" -q --all > "$folder/table"
    grep -c '^[123]\. ' "$folder/table" | grep -qx 3
    sed -n '1,3s/^[123]\. \([a-z-]*\).*/\1/p' "$folder/table" > "$folder/best"
    answer --all | sed -n 's/.*"change": "\(.*\)",/\1/p' | head -3 | cmp - "$folder/best"
    [ "$(head -1 "$folder/best")" = pinned ]
    answer --all | sed -n 's/.*"predicted_us": \([0-9]*\).*/\1/p' > "$folder/times"
    sort -n "$folder/times" | cmp - "$folder/times"
    [ "$(wc -l < "$folder/times")" -ge 3 ]
}

@test "-o keeps the recording, the baseline and the scenarios, the best one last" {
    trace="$GRIDTIDE_SOURCE/traces/pairs/batches-wide.pageable.json.gz"
    answer --all -o "$folder/run.db" > "$folder/json"
    changes=$(grep -c '"change"' "$folder/json")
    ask() { sqlite3 "$folder/run.db" "$1"; }
    [ "$(ask 'select count(*) from run')" = $((changes + 2)) ]
    [ "$(ask 'select kind from run where run_id = 1')" = measured ]
    [ "$(ask 'select options from run where run_id = 2')" = "whatif baseline" ]
    [ "$(ask 'select options from run order by run_id desc limit 1')" = "whatif pinned" ]
    [ "$(ask "select count(*) from counter where name = 'without_run_id' and value = 2")" = "$changes" ]
    "$GRIDTIDE" stats "$folder/run.db" > /dev/null
}

@test "a step is a ProfilerStep, and the profiler's cost is in the replay, not in the baseline" {
    trace="$GRIDTIDE_SOURCE/traces/pairs/mlp-large.eager.json.gz"
    answer --change connections=8 > "$folder/json"
    python3 - "$folder/json" <<- 'END'
	import json, sys
	answer = json.load(open(sys.argv[1]))
	assert answer["steps"] == 4
	assert abs(answer["replay_us"] / answer["measured_us"] - 1) < 0.01
	assert answer["baseline_us"] < answer["replay_us"]
	assert answer["baseline_us"] / 5 < answer["step_us"] < answer["baseline_us"] / 3
	assert "profiler overhead is subtracted" in " ".join(answer["changes"][0]["assumptions"])
	END
}

@test "kernels of which only programs are known last as these say, on another device too" {
    trace="$GRIDTIDE_SOURCE/traces/profiles/library.jsonl.zst"
    answer --change device=a100 > "$folder/json"
    grep -q '"scaled by their programs, run on both devices: [0-9]* kernel launches, 100% of kernel time' "$folder/json"
    grep -q '"change_pct": [0-9]' "$folder/json"
    grep -q '"trust": "medium"' "$folder/json"
}

# refused STATUS TEXT OPTION...
refused()
{
    status=0
    "$GRIDTIDE" whatif "$trace" -q "${@:3}" 2> "$folder/error" > "$folder/out" || status=$?
    [ "$status" = "$1" ]
    grep -qF -- "$2" "$folder/error"
    [ ! -s "$folder/out" ]
}

@test "what is asked wrongly is told" {
    refused 2 "did you mean launch-cost?" --change launchcots=1
    refused 2 "takes a value: connections=N" --change connections
    refused 2 "name a change"
    refused 2 "exclude each other" --all --change connections=1
    refused 1 "there is no device key 'chip.smss'; did you mean chip.sms" --change chip.smss=3
    refused 1 "connections=0: " --change connections=0
    refused 1 "h200" --change device=h201
    refused 1 "no kernel has this name" --change kernel=nosuch*2
    refused 1 "'x' is no factor" --change kernel=a*x
    refused 1 "NAME*FACTOR" --change kernel=a
    refused 1 "the trace has no such stream; it has" --change priority=nosuch:0
    refused 1 "priorities are -5 (the most urgent) to 0" --change priority=7:1
}

# A chain of small kernels beside large ones of the same priority: recorded, and made for real (28% shorter with priority).
@test "whatif --all: the stream that waits for room is tried with a priority" {
    "$GRIDTIDE" whatif "$GRIDTIDE_SOURCE/traces/pairs/priority-short.equal.json.gz" -q --all -f json > "$BATS_TEST_TMPDIR/all"
    jq -e '[.changes[] | select(.change == "priority=13:-5")] | length == 1 and .[0].change_pct < -20' "$BATS_TEST_TMPDIR/all"
    # one stream has nobody to be more urgent than
    "$GRIDTIDE" whatif "$GRIDTIDE_SOURCE/traces/pairs/handoff.streams-1.json.gz" -q --all -f json > "$BATS_TEST_TMPDIR/all"
    jq -e '[.changes[] | select(.change | startswith("priority"))] == []' "$BATS_TEST_TMPDIR/all"
}

# A graph of four kernels in a chain of 100 us each, 16 blocks: its nodes say what they read and write.
graph_of() {
    local kernel='{"kernel":"k"' nodes=
    for i in 0 1 2 3; do
        nodes+="${nodes:+,}$kernel"
        [ "$i" = 0 ] || nodes+=",\"after\":[$((i - 1))]"
        shift
        nodes+="$1}"
    done
    printf '%s\n' '{"gridtide":1,"name":"graph","device":"h200"}' '{"kernel":"k","grid":16,"block":256,"duration_us":100}' \
        '{"buffer":"a","bytes":1000}' '{"buffer":"b","bytes":1000}' '{"buffer":"c","bytes":1000}' '{"buffer":"d","bytes":1000}' \
        "{\"call\":\"graph_launch\",\"stream\":\"s\",\"nodes\":[$nodes]}" '{"call":"device_sync"}' > "$BATS_TEST_TMPDIR/graph.jsonl"
    "$GRIDTIDE" whatif -q "$BATS_TEST_TMPDIR/graph.jsonl" --change streams=4 -f json > "$BATS_TEST_TMPDIR/json"
}

@test "streams: data flow orders the nodes of a graph" {
    touch() { printf ',"reads":[%s],"writes":["%s"]' "$1" "$2"; }
    graph_of of "$(touch '' a)" "$(touch '' b)" "$(touch '' c)" "$(touch '' d)" # nobody reads: beside each other
    jq -e '.changes[0] | .predicted_us < 130 and (.assumptions | any(startswith("4 graph nodes are ordered by")))' "$BATS_TEST_TMPDIR/json"
    graph_of of "$(touch '' a)" "$(touch '"a"' b)" "$(touch '"b"' c)" "$(touch '"c"' d)" # each what the one before wrote
    jq -e '.changes[0].change_pct == 0' "$BATS_TEST_TMPDIR/json"
    graph_of of "$(touch '' a)" "$(touch '"a"' b)" "$(touch '"a"' c)" "$(touch '"b","c"' d)" # a diamond: three levels
    jq -e '.changes[0].predicted_us | . > 310 and . < 330' "$BATS_TEST_TMPDIR/json"
    graph_of of "$(touch '' a)" "" "$(touch '' c)" "$(touch '' d)" # of one nothing is known: it stays between the others
    jq -e '.changes[0].predicted_us | . > 310 and . < 330' "$BATS_TEST_TMPDIR/json"
}

@test "whatif, run: --infer=off takes nothing from recorded times but times" {
    trace="$GRIDTIDE_SOURCE/traces/samples/cuda-fork-join.json.gz"
    "$GRIDTIDE" whatif "$trace" --change pinned > on.txt
    "$GRIDTIDE" whatif "$trace" --change pinned --infer=off > off.txt
    grep -q 'inferred from recorded times' on.txt
    [ "$(grep -c 'inferred from recorded times' off.txt)" -eq 0 ]
    "$GRIDTIDE" run -q "$trace" --infer=off -o off.db
    [ "$(sqlite3 off.db "SELECT options LIKE '%infer=off%' FROM run WHERE kind = 'simulated'")" = 1 ]
    run "$GRIDTIDE" run -q "$trace" --infer=maybe -o off.db
    [ "$status" -eq 2 ]
}
