# Steps that go forward and backward several times before the optimiser's step, gradients added up.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# pass BYTES: forward, and backward with two gradients of so many bytes: four calls.
pass() {
    echo '{"range":"aten::mm","calls":1}'
    echo '{"call":"launch","kernel":"k","stream":"s"}'
    echo '{"range":"autograd::engine::evaluate_function: MmBackward0","calls":1}'
    echo '{"call":"launch","kernel":"k","stream":"s"}'
    for _ in 1 2; do
        echo '{"range":"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad","calls":1}'
        echo "{\"range\":\"torch::autograd::AccumulateGrad\",\"calls\":1,\"gradient_bytes\":$1}"
        echo '{"call":"launch","kernel":"k","stream":"s"}'
    done
}

optimiser() {
    echo '{"range":"Optimizer.step#SGD.step","kind":"annotation","calls":1}'
    echo '{"call":"launch","kernel":"k","stream":"s"}'
}

# program STEP...: training steps, each of passes of so many bytes a gradient, and 0 for a step of an optimiser.
program() {
    echo '{"gridtide":1,"device":"h200"}'
    echo '{"kernel":"k","grid":132,"block":256,"block_us":20}'
    number=0
    for step in "$@"; do
        calls=0
        for bytes in $step; do
            calls=$((calls + (bytes == 0 ? 1 : 4)))
        done
        echo "{\"range\":\"ProfilerStep#$((number++))\",\"kind\":\"step\",\"calls\":$calls}"
        for bytes in $step; do
            if [ "$bytes" = 0 ]; then optimiser; else pass "$bytes"; fi
        done
    done
}

# step BYTES...: three steps of so many passes.
step() {
    program "$* 0" "$* 0" "$* 0"
}

# asked CHANGE...: of step.jsonl, all at once; the words are in answer.txt, the step's us is printed.
asked() {
    "$GRIDTIDE" whatif -q step.jsonl "${@/#/--change=}" > answer.txt
    "$GRIDTIDE" whatif -q -f json step.jsonl "${@/#/--change=}" | jq '.changes[0].step_us'
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

@test "passes that a change makes are as good as recorded ones" {
    # Recorded: two passes.  Made: one, once more; that its two gradients are added up takes the host 6 us each, and their launches about 4.
    for change in ddp=2 dp=2; do
        step 4194304 4194304 > step.jsonl
        recorded_us=$(asked $change)
        asked $change accumulate=2
        grep -q 'adds up the gradients of 4 passes' answer.txt
        step 4194304 > step.jsonl
        made_us=$(asked $change accumulate=2)
        grep -q 'adds up the gradients of 2 passes' answer.txt
        grep -q ' 8.0 MiB of' answer.txt
        python3 -c "import sys; sys.exit(not 12 < $made_us - $recorded_us < 24)"
    done
}

@test "gradients of two optimisers' steps in a step are reduced apart" {
    # Two models in turn: one of 8 MiB twice, then both of 12 MiB, in two buckets each.
    step 4194304 4194304 0 6291456 > step.jsonl
    asked ddp=2
    grep -q ' 28.0 MiB of gradients a step in 6 buckets' answer.txt
    grep -q 'optimisers step several times in a recorded step' answer.txt
    [ "$(grep -c no_sync answer.txt)" -eq 0 ]
    # Two optimisers of one model: both steps are behind the gradients.
    step 4194304 0 > step.jsonl
    asked ddp=2
    grep -q ' 8.0 MiB of gradients a step in 2 buckets' answer.txt
    [ "$(grep -c optimisers answer.txt)" -eq 0 ]
    # What is given is the whole step's: both of the first 20 MiB, where a pass of each part counts.
    step 4194304 4194304 0 6291456 > step.jsonl
    "$GRIDTIDE" whatif -q step.jsonl --change dp=2 --gradients 40 > answer.txt
    grep -q ' 40.0 MiB of parameters' answer.txt
}

# reductions: of all ranks in step.jsonl's ddp=2.
reductions() {
    rm -f run.db
    "$GRIDTIDE" whatif -q step.jsonl --change ddp=2 -o run.db > answer.txt
    sqlite3 run.db "SELECT count(*) FROM op_named n JOIN run r USING (trace_id)
        WHERE n.name = 'bucket all-reduce' AND r.options = 'whatif ddp=2'"
}

@test "recorded steps without the optimiser's keep their gradients for a later one" {
    # Parts of a batch, each recorded as a step: of six, the third and the last reduce two buckets on each of two ranks.
    program 4194304 4194304 '4194304 0' 4194304 4194304 '4194304 0' > step.jsonl
    [ "$(reductions)" -eq 8 ]
    grep -q "without a step of an optimiser reduce nothing" answer.txt
    # The recording ends before the optimiser steps: those are kept, too.
    program 4194304 '4194304 0' 4194304 '4194304 0' 4194304 > step.jsonl
    [ "$(reductions)" -eq 8 ]
    # No optimiser was recorded: each step reduces its own.
    program 4194304 4194304 4194304 > step.jsonl
    [ "$(reductions)" -eq 12 ]
    [ "$(grep -c optimiser answer.txt)" -eq 0 ]
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
