# gridtide whatif --change delay=...: one rank late in every step, against recordings of two GPUs of which one was.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

# job NAME: the on-time recordings of both ranks as NAME.jsonl
job() {
    "$GRIDTIDE" import -q "$recorded/$1.ddp".rank{0,1}.json.gz -o "$1.jsonl"
}

# within PCT SAYS WAS
within() {
    awk "BEGIN { off = 100 * ($2 / $3 - 1); exit !(off <= $1 && off >= -$1) }"
}

# With the profiler's cost taken off both alike: what differs is the host's pace of two recordings of three steps each.
@test "a delay of one rank's host comes out within 5% of the late recording itself, simulated in the same way" {
    job mlp-exposed
    "$GRIDTIDE" import -q "$recorded/mlp-exposed.ddp-late-host".rank{0,1}.json.gz -o late.jsonl
    "$GRIDTIDE" whatif -q -f json mlp-exposed.jsonl --change delay=1:3050:before=aten::ones_like > injected.json
    "$GRIDTIDE" whatif -q -f json late.jsonl --change launch-cost=1 > late.json
    within 5 "$(jq '.changes[0].step_us' injected.json)" "$(jq .step_us late.json)"
}

@test "explain finds the rank that was made late" {
    job mlp-exposed
    "$GRIDTIDE" whatif -q mlp-exposed.jsonl --change delay=1:5000:gpu:before=aten::ones_like -o answer.db > /dev/null
    "$GRIDTIDE" explain -f json answer.db > explain.json || "$GRIDTIDE" stats answer.db
    jq -e '.findings[] | select(.finding == "straggler") | .what | startswith("GPU 1 was last in")' explain.json
}

@test "a delay can be in a trace so short that nothing else fits in" {
    {
        echo '{"gridtide":1,"device":"h200"}'
        echo '{"kernel":"k","grid":132,"block":256,"block_us":20}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
    } > short.jsonl
    before_us=$("$GRIDTIDE" whatif -q -f json short.jsonl --change launch-cost=1 | jq .baseline_us)
    late_us=$("$GRIDTIDE" whatif -q -f json short.jsonl --change delay=0:50:gpu | jq '.changes[0].predicted_us')
    awk "BEGIN { exit !($late_us > $before_us + 50) }"
}

@test "a delay that cannot be is refused with what is wrong" {
    job mlp-exposed
    while IFS='|' read -r spec says; do
        run "$GRIDTIDE" whatif -q mlp-exposed.jsonl --change "$spec"
        echo "$spec: $output"
        [ "$status" -ne 0 ]
        [[ "$output" == *"delay"*"$says"* ]]
    done << 'END'
delay|takes a value
delay=1|RANK:US
delay=x:5|a rank is a number
delay=2:5|there is no rank 2: 2 GPUs work
delay=1:-5|microseconds from 0
delay=1:5us|microseconds from 0
delay=1:5:cpu|gpu or before=NAME
delay=1:5:before=|gpu or before=NAME
delay=1:5:before=none_of_that|no range and no kernel 'none_of_that'
END
}

@test "a step is late once, whatever the rank; late by nothing changes nothing" {
    job mlp-exposed
    for rank in 0 1; do
        "$GRIDTIDE" whatif -q -f json mlp-exposed.jsonl --change "delay=$rank:0" > answer.json
        jq -e '.steps == 3 and .changes[0].change_pct < 0.2 and .changes[0].change_pct > -0.2' answer.json
        jq -e ".changes[0].assumptions | map(select(test(\"host of rank $rank is late by 0.000 us 3 times\"))) | length == 1" answer.json
    done
}
