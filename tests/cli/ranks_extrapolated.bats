# What was not measured - more GPUs than two, slower links, other GPUs, several hosts - is called extrapolated beside its number.

load figures_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    # A training step: a forward pass, three gradients of 64 MiB that get ready one after the other, an optimiser.
    python3 - > step.jsonl << 'END'
import json
rows = [{'gridtide': 1, 'name': 'step', 'device': 'h200'}]
rows += [{'kernel': name, 'grid': 264, 'block': 256, 'block_us': us} for name, us in (('product', 300), ('optimiser', 50))]
launch = [{'call': 'launch', 'kernel': 'product', 'stream': 's'}]
for step in range(3):
    rows += [{'range': f'ProfilerStep#{step}', 'kind': 'step', 'calls': 8}, *launch * 4]
    for gradient in range(3):
        rows += [{'range': 'torch::autograd::AccumulateGrad', 'calls': 1, 'gradient_bytes': 1 << 26}, *launch]
    rows += [{'call': 'launch', 'kernel': 'optimiser', 'stream': 's'}]
print('\n'.join(map(json.dumps, rows)))
END
}

# ask CHANGE...: the answer into answer.json
ask() {
    "$GRIDTIDE" whatif -q -f json step.jsonl "${@/#/--change=}" > answer.json
}

step_us() {
    ask "$@"
    jq '.changes[0].step_us' answer.json
}

extrapolated() {
    ask "$@"
    jq -e '.changes[0] | .extrapolated and .trust == "low"' answer.json
}

@test "beside the number in tables, CSV, JSON, the store, explain and the report" {
    "$GRIDTIDE" whatif -q step.jsonl --change ddp=4 -o four.db > four.txt
    grep -q '^ddp=4 .* low, extrapolated ' four.txt
    grep -q 'measured with 2 GPUs, not with 4' four.txt
    "$GRIDTIDE" whatif -q -f csv step.jsonl --change ddp=4 | grep -q 'ddp=4,.*,"low, extrapolated",'
    extrapolated ddp=4
    [ "$(sqlite3 four.db 'SELECT trust FROM answer')" = 'low, extrapolated' ]
    "$GRIDTIDE" explain four.db | grep -q '^trust *low, extrapolated$'
    "$GRIDTIDE" explain -f json four.db | jq -e '.limit.trust == "low, extrapolated"'
    "$GRIDTIDE" report -q four.db -o page
    grep -q 'Trust in this answer: <strong>low, extrapolated' page/index.html
    "$GRIDTIDE" whatif -q step.jsonl --change ddp=2 -o two.db | grep -q '^ddp=2 .* medium '
    "$GRIDTIDE" explain -f json two.db | jq -e '.limit.trust == "medium"'
    # a run that nobody asked anything of has nothing to be trusted in
    "$GRIDTIDE" run -q step.jsonl -o run.db > /dev/null
    "$GRIDTIDE" explain -f json run.db | jq -e '.limit.trust == null'
}

@test "collectives of a trace itself, too: explain says so of a run" {
    for gpus in 0,1 0,1,2; do
        {
            echo '{"gridtide":1,"name":"job","device":"h200"}'
            echo "{\"group\":\"world\",\"gpus\":[$gpus]}"
            for gpu in ${gpus//,/ }; do
                echo "{\"stream\":\"s$gpu\",\"gpu\":$gpu}"
            done
            echo '{"kernel":"sum","collective":"all_reduce","group":"world","bytes":1048576}'
            for gpu in ${gpus//,/ }; do
                echo "{\"call\":\"launch\",\"thread\":$gpu,\"kernel\":\"sum\",\"stream\":\"s$gpu\"}"
            done
        } > job.jsonl
        rm -f job.db
        "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
        "$GRIDTIDE" explain -f json job.db | jq -r .limit.trust
    done > trusts.txt
    [ "$(xargs < trusts.txt)" = "null extrapolated" ]
}

@test "more ranks are not faster, nor are slower links; what is not of two H200s on NVLink is extrapolated" {
    as_released
    before=0
    for ranks in 2 3 4 8 9 64; do
        step=$(step_us "ddp=$ranks")
        awk "BEGIN { exit !($step >= $before) }"
        before=$step
    done
    grep -q 'the slower network between hosts is not modelled' answer.json
    ask ddp=8
    ! grep -q 'network between hosts' answer.json
    nvlink=$(step_us ddp=2) pcie=$(step_us ddp=2 link.pairs=pcie) fast=$(step_us ddp=2 link.pairs=pcie link.pcie_gbps=200)
    # 192 MiB of gradients are 201.3 MB over each way of the link: at 40 GB/s (link.pcie_gbps of an H200) 5,033 us, at 200 GB/s
    # 1,007 us, of which the backward pass hides some
    awk "BEGIN { exit !($nvlink < $fast && $fast + 3000 < $pcie && $pcie < $nvlink + 5033) }"
    extrapolated ddp=2 link.pairs=pcie
    jq -e '.changes[0].assumptions | any(contains("over faster links than link.pairs = pcie"))' answer.json
    extrapolated ddp=2 link.pairs=host
    ask ddp=2 link.pairs=nvlink
    jq -e '.changes[0].extrapolated | not' answer.json
    for device in h100 a100; do
        sed "s/\"h200\"/\"$device\"/" step.jsonl > other.jsonl
        "$GRIDTIDE" whatif -q other.jsonl --change ddp=2 > other.txt
        grep -q '^ddp=2 .* low, extrapolated ' other.txt
        grep -q 'collectives were not measured on NVIDIA [AH]100.*its device file has guesses' other.txt
    done
}

@test "buckets of any size that is one; fewer SMs or more passes are not faster" {
    for bucket in 1e-9 0.001 1 64 1000 1048576; do
        step_us "ddp=2:bucket=$bucket"
    done > steps.txt
    # the smallest is a byte, so that each gradient has its own, as with any up to 64 MiB; from then on fewer
    [ "$(head -4 steps.txt | sort -u | wc -l)" -eq 1 ]
    [ "$(tail -2 steps.txt | sort -u | wc -l)" -eq 1 ]
    [ "$(head -1 steps.txt)" != "$(tail -1 steps.txt)" ]
    one=$(step_us ddp=2) few=$(step_us ddp=2 collective-sms=2) twice=$(step_us ddp=2 accumulate=2)
    awk "BEGIN { exit !($one <= $few && $one < $twice) }"
    for spec in ddp=0 ddp=-1 ddp=1e9 ddp=nan ddp=2x ddp=2:bucket=nan ddp=2:bucket=1x accumulate=1e9 \
        collective-sms=nan; do
        run "$GRIDTIDE" whatif -q step.jsonl --change "$spec"
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: $spec: "* ]]
    done
    for spec in ddp= accumulate= collective-sms=; do
        run "$GRIDTIDE" whatif -q step.jsonl --change "$spec"
        [ "$status" -eq 2 ]
    done
    run "$GRIDTIDE" whatif -q step.jsonl --change dp=2 # DataParallel, of earlier versions
    [ "$status" -eq 2 ]
    [[ "$output" == *"no change 'dp'; did you mean ddp?"* ]]
}

@test "sizes that --gradients has to say: one by one they are taken to be alike, which is told" {
    sed 's/, "gradient_bytes": [0-9]*//' step.jsonl > unsized.jsonl
    run "$GRIDTIDE" whatif -q unsized.jsonl --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"--gradients MIB"* ]]
    "$GRIDTIDE" whatif -q unsized.jsonl --change ddp=2 --gradients 192 > answer.txt
    grep -q 'all are assumed equal' answer.txt
    grep -q '^ddp=2 .* low ' answer.txt
    [ "$("$GRIDTIDE" whatif -q -f json unsized.jsonl --change ddp=2 --gradients 192 | jq '.changes[0].step_us')" = "$(step_us ddp=2)" ]
}
