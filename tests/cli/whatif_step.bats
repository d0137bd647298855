# whatif --step: the host's pace by a step that nobody recorded.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

# typed GPU_US > FILE: four steps; each: the host works for 90 us, launches in 10 us a kernel that lasts GPU_US.
typed() {
    echo '{"gridtide":1,"name":"typed","device":"toy"}'
    echo '{"kernel":"k","grid":1,"block":32,"duration_us":'"$1"'}'
    for _ in 1 2 3 4; do
        echo '{"call":"host_work","duration_us":90}'
        echo '{"call":"launch","kernel":"k","stream":"s","duration_us":10}'
    done
}

# answer FILE OPTION...: into answer.json.
answer() {
    "$GRIDTIDE" whatif -q -f json "$@" > answer.json
}

# about KEY VALUE: the first of that key in answer.json, within 0.2%.
about() {
    python3 - "$@" << 'END'
import json, sys
answer = json.load(open('answer.json'))
key, value = sys.argv[1], float(sys.argv[2])
has = answer[key] if key in answer else answer['changes'][0][key]
print(key, has, value)
sys.exit(abs(has / value - 1) > 0.002)
END
}

@test "the host's work goes with the step that was timed, and so do changes" {
    # A step is 100 us of the host, the last kernel ends 10 us behind the last launch: 4 * 100 + 10. At 150 us a step the host takes
    # 1.5 times as long, the kernel does not: 4 * 150 + 10. At 50 us: 4 * 50 + 10.
    typed 10 > typed.jsonl
    answer typed.jsonl --change connections=16
    about step_us 100
    for step in 150 50; do
        answer typed.jsonl --change connections=16 --step "$step"
        about step_us "$step"
        about baseline_us $((4 * step + 10))
        about predicted_us $((4 * step + 10))
    done
    grep -q 'Host times are 0.50 times those recorded, so that a step takes the 50.0 us of --step' answer.json
    answer typed.jsonl --change connections=16 --step 100
    about baseline_us 410
    grep -q "Host times stay as recorded: so a step takes as long" answer.json
}

@test "where the GPU bounds the step the host stays, unless it is in the way; another step is not believed" {
    # Kernels of 200 us: a step is theirs, 100 us + 4 * 200 in all. A step of 203 us is the same by a clock that is 1.5% slower.
    typed 200 > typed.jsonl
    answer typed.jsonl --change connections=16 --step 203
    about baseline_us 900
    grep -q 'the GPU bounds the step' answer.json
    # At 300 us it is the host: three times as slow, 4 * 300 + 200.
    answer typed.jsonl --change connections=16 --step 300
    about baseline_us 1400
    # No host makes it 50 us.
    answer typed.jsonl --change connections=16 --step 50
    grep -q 'No host speed makes a step take the 50.0 us of --step, only 200.0 us' answer.json
    grep -q '"trust": "low"' answer.json
}

@test "what DistributedDataParallel adds to the host goes with its pace" {
    # The host bounds both: 1,000 us of work and six launches of 10 us are 1,060 us a step, 2,120 us at half the pace; three gradients of
    # 1 KiB, their bucket and its copies back are the host's work, too, and take twice as long.
    python3 - > step.jsonl << 'END'
import json
rows = [{'gridtide': 1, 'name': 'step', 'device': 'h200'}, {'kernel': 'k', 'grid': 1, 'block': 32, 'duration_us': 2}]
launch = {'call': 'launch', 'kernel': 'k', 'stream': 's', 'duration_us': 10}
for step in range(4):
    rows += [{'range': f'ProfilerStep#{step}', 'kind': 'step', 'calls': 7}, {'call': 'host_work', 'duration_us': 1000}, launch, launch]
    for gradient in range(3):
        rows += [{'range': 'torch::autograd::AccumulateGrad', 'calls': 1, 'gradient_bytes': 1024}, launch]
    rows += [launch]
print('\n'.join(map(json.dumps, rows)))
END
    answer step.jsonl --change ddp=2 --step 1060
    about baseline_us 4242
    once=$(jq '.changes[0].step_us' answer.json)
    [ "${once%.*}" -gt 1250 ]
    answer step.jsonl --change ddp=2 --step 2120
    twice=$(jq '.changes[0].step_us' answer.json)
    echo "$once $twice"
    awk "BEGIN { exit !($twice / $once > 1.99 && $twice / $once < 2.01) }"
}

@test "a step that cannot be is refused" {
    typed 10 > typed.jsonl
    for step in 0 -5 x 10us 1e12 ""; do
        run "$GRIDTIDE" whatif -q typed.jsonl --change connections=16 --step "$step"
        [ "$status" -eq 2 ]
        [[ "$output" == *"--step requires microseconds"* ]]
    done
}

@test "what PyTorch takes is read from its file, a chosen one first; a wrong one is named with its line" {
    trace=$recorded/mlp-exposed.one.rank0.json.gz
    shipped_us=$("$GRIDTIDE" whatif -q -f json "$trace" --change ddp=2 | jq '.changes[0].step_us')
    mkdir -p data/frameworks
    sed 's/^bucket_us = .*/bucket_us = 8000/' "$GRIDTIDE_SOURCE/sim/frameworks/pytorch-2.11.ini" > data/frameworks/pytorch-2.11.ini
    slow_us=$(GRIDTIDE_DATA=data "$GRIDTIDE" whatif -q -f json "$trace" --change ddp=2 | jq '.changes[0].step_us')
    awk "BEGIN { exit !($slow_us > $shipped_us + 8000) }"
    printf '[ddp]\nbuckets_us = 4\n' > data/frameworks/pytorch-2.11.ini
    GRIDTIDE_DATA=data run "$GRIDTIDE" whatif -q "$trace" --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: data/frameworks/pytorch-2.11.ini:2: there is no framework key 'ddp.buckets_us'; did you mean ddp.bucket_us"* ]]
}
