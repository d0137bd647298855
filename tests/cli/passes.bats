# Steps that go forward and backward several times before the optimiser's step, gradients added up.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# step BYTES...: a training step of so many passes, each of which makes two gradients of so many bytes.
step() {
    echo '{"gridtide":1,"device":"h200"}'
    echo '{"kernel":"k","grid":132,"block":256,"block_us":20}'
    for i in 0 1 2; do
        echo "{\"range\":\"ProfilerStep#$i\",\"kind\":\"step\",\"calls\":$((4 * $# + 1))}"
        for bytes in "$@"; do
            echo '{"range":"aten::mm","calls":1}'
            echo '{"call":"launch","kernel":"k","stream":"s"}'
            echo '{"range":"autograd::engine::evaluate_function: MmBackward0","calls":1}'
            echo '{"call":"launch","kernel":"k","stream":"s"}'
            for _ in 1 2; do
                echo '{"range":"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad","calls":1}'
                echo "{\"range\":\"torch::autograd::AccumulateGrad\",\"calls\":1,\"gradient_bytes\":$bytes}"
                echo '{"call":"launch","kernel":"k","stream":"s"}'
            done
        done
        echo '{"range":"Optimizer.step#SGD.step","kind":"annotation","calls":1}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
    done
}

# asked CHANGE: of step.jsonl; the words are in answer.txt, the step's us is printed.
asked() {
    "$GRIDTIDE" whatif -q step.jsonl --change "$1" > answer.txt
    "$GRIDTIDE" whatif -q -f json step.jsonl --change "$1" | jq '.changes[0].step_us'
}

@test "ranks reduce the gradients of the last pass alone" {
    # Two of 4 MiB: the first fills the first bucket (1 MiB), the second is the rest.
    for passes in 4194304 '4194304 4194304' '4194304 4194304 4194304'; do
        # shellcheck disable=SC2086
        step $passes > step.jsonl
        asked ddp=2
        grep -q ' 8.0 MiB of gradients a step in 2 buckets' answer.txt
        asked ddp=2:bucket=100
        grep -q ' 8.0 MiB of gradients a step in 1 bucket,' answer.txt
    done
    grep -q 'gradients of 3 passes: ranks reduce them in the last one alone' answer.txt
    step 4194304 > step.jsonl
    asked ddp=2
    [ "$(grep -c passes answer.txt)" -eq 0 ]
}

@test "other gradients, or no forward pass between them, are no further pass" {
    step 4194304 2097152 > step.jsonl
    asked ddp=2
    grep -q ' 12.0 MiB of gradients' answer.txt
    [ "$(grep -c passes answer.txt)" -eq 0 ]
    # Without what the forward passes call, which is one call of five.
    step 4194304 4194304 | sed -e '/aten::mm/,+1d' -e 's/"calls":9/"calls":7/' > step.jsonl
    asked ddp=2
    grep -q ' 16.0 MiB of gradients' answer.txt
    # Where operators of the backward pass were not recorded, nothing tells passes apart.
    step 4194304 4194304 | grep -v evaluate_function > step.jsonl
    asked ddp=2
    grep -q ' 16.0 MiB of gradients' answer.txt
}

@test "DataParallel scatters, replicates and reduces in each pass" {
    # A pass is nearly all of a step: two of them take twice as long, but for the optimiser's launch.
    step 4194304 > step.jsonl
    one_us=$(asked dp=2)
    step 4194304 4194304 > step.jsonl
    two_us=$(asked dp=2)
    grep -q 'gradients of 2 passes: all of that is done in each pass' answer.txt
    grep -q ' 8.0 MiB of parameters' answer.txt
    python3 -c "import sys; sys.exit(not 1.9 < $two_us / $one_us < 2)"
}

@test "a given size is that of one pass" {
    step 4194304 4194304 > step.jsonl
    "$GRIDTIDE" whatif -q step.jsonl --change ddp=2 --gradients 96 > answer.txt
    grep -q ' 96.0 MiB of gradients a step in 2 buckets' answer.txt
}

# unmarked CALLS BEFORE: three steps that nothing marks but their optimiser, the first behind BEFORE calls, the last of CALLS calls and not four.
unmarked() {
    echo '{"gridtide":1,"device":"h200"}'
    echo '{"kernel":"k","grid":132,"block":256,"duration_us":100}'
    for ((i = 0; i < $2; i++)); do
        echo "{\"kernel\":\"before$i\",\"grid\":1,\"block\":32,\"duration_us\":10}"
        echo "{\"call\":\"launch\",\"kernel\":\"before$i\",\"stream\":\"s\"}"
    done
    for calls in 4 4 "$1"; do
        for ((i = 1; i < calls; i++)); do
            echo '{"call":"launch","kernel":"k","stream":"s"}'
        done
        echo '{"range":"Optimizer.step#SGD.step","kind":"annotation","calls":1}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
    done
}

# steps STEPS WORDS: so many are found in step.jsonl, and told so.
steps() {
    "$GRIDTIDE" whatif -q -f json step.jsonl --change connections=16 > answer.json
    jq -e --arg words "$2" ".steps == $1 and (.changes[0].assumptions | any(contains(\$words)))" answer.json
}

@test "steps that nothing marks end with the optimiser's, where they are about as long" {
    unmarked 4 0 > step.jsonl
    steps 3 "each of the 3 steps is taken to end with the optimiser's"
    unmarked 4 9 > step.jsonl # what came before is no step
    steps 2 "each of the 2 steps is taken to end with the optimiser's"
    unmarked 12 0 > step.jsonl # the optimiser is not all that ends a step: the same call comes again and again
    steps 20 'the same calls, 20 times, are taken as steps'
}
