# Training loops as people write them, recorded on an H200 (traces/record/loops.py): what is found in each.

load figures_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

@test "gradients and buckets of each loop are those that DistributedDataParallel itself says" {
    as_released
    python3 - "$GRIDTIDE" "$recorded" << 'END'
import json, re, subprocess, sys
tool, recorded = sys.argv[1:]
rows = {(row['model'], row['form']): row for row in map(json.loads, open(f'{recorded}/times.jsonl')) if row['set'] == 'loops'}
tried = wrong = 0
for (model, form), row in rows.items():
    # Profiles without sizes have to be told them, and then have no buckets but by chance; of one seed the largest takes as long as ten;
    # of two models in turn one goes backward three times.
    if form != 'ddp-alone' or model.startswith(('shapeless', 'without-operators', 'accumulated-18181', 'adversarial')):
        continue
    answer = json.loads(subprocess.run([tool, 'whatif', '-q', '-f', 'json', f'{recorded}/{model}.one.rank0.json.gz', '--change', 'ddp=2'],
                                       capture_output=True, text=True, check=True).stdout)
    says = ' '.join(answer['changes'][0]['assumptions'])
    found = re.search(r'([\d.]+) MiB of gradients a step in (\d+) bucket', says)
    tried += 1
    if found[1] != f"{row['gradient_bytes'] / (1 << 20):.1f}" or int(found[2]) != len(row['bucket_bytes']):
        print(model, found[0], row['gradient_bytes'], row['bucket_bytes'])
        wrong += 1
print(tried, 'loops')
sys.exit(wrong > 0 or tried < 37)
END
}

# asked MODEL WORD...: the answer for that recording.
asked() {
    "$GRIDTIDE" whatif -q -f json "$recorded/$1.one.rank0.json.gz" "${@:2}"
}

@test "of two models in turn each is reduced as often as it goes backward" {
    as_released
    # 448.4 MiB of the critic's in 7 buckets three times, 65.0 of the generator's in 2 behind the third: bucket_bytes.
    asked adversarial-44017 --change ddp=2 | jq -r '.changes[0].assumptions[]' > answer.txt
    grep -q ' 1410.1 MiB of gradients a step in 23 buckets' answer.txt
    # Small ones: two of the discriminator's own in each pass, and in the generator's two of its own.
    asked adversarial-82203 --change ddp=2 | grep -q ' 34.4 MiB of gradients a step in 8 buckets'
    grep -q 'Optimizers step several times in a recorded step' answer.txt
}

@test "a profile without steps has those that its optimiser ends" {
    asked unmarked-90907 --change ddp=2 > answer.json
    jq -e '.steps == 3' answer.json
    # 4,859 us when nobody recorded (times.jsonl); the thread of the backward pass goes with the one that asked, so that all of the
    # run takes longer by what ranks do.
    jq -e '.step_us > 4373 and .step_us < 5345 and .changes[0].change_pct > 3' answer.json
}

@test "where sizes or operators were not recorded, the backward pass is the asking thread's all the same" {
    as_released
    for model in shapeless without-operators; do
        asked "$model-18181" --change launch-cost=1 > bare.json
        asked "$model-18181" --change launch-cost=1 --gradients 100 > told.json
        jq -e --slurpfile told told.json '.step_us == $told[0].step_us' bare.json
    done
    # 7,023 us when nobody recorded; 9,091 where the threads go their own ways.
    jq -e '.step_us > 6321 and .step_us < 7725' bare.json
    asked without-operators-18181 --change ddp=2 --gradients 304 > told.json
    grep -q 'evenly spread over the backward pass' told.json
    grep -q 'Assumes one backward pass per recorded step' told.json
    run asked without-operators-18181 --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"--gradients MIB"* ]]
}

@test "a compiled step says that ranks compile others" {
    asked compiled-18181 --change ddp=2 > answer.json
    jq -e '.changes[0].trust == "low" and (.changes[0].assumptions | any(contains("compiles it in parts, one per bucket")))' answer.json
    asked plain-18181 --change ddp=2 > answer.json
    jq -e '.changes[0].assumptions | any(contains("compiles it in parts")) | not' answer.json
}
