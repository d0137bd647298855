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
    grep -q 'gradients of 3 passes; ranks reduce them in the last pass only' answer.txt
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

@test "passes that a change makes are as good as recorded ones" {
    # Recorded: two passes.  Made: one, once more; that its two gradients are added up takes the host 6 us each, and their launches about 4.
    step 4194304 4194304 > step.jsonl
    recorded_us=$(asked ddp=2)
    asked ddp=2 accumulate=2
    grep -q 'accumulates the gradients of 4 passes' answer.txt
    step 4194304 > step.jsonl
    made_us=$(asked ddp=2 accumulate=2)
    grep -q 'accumulates the gradients of 2 passes' answer.txt
    grep -q ' 8.0 MiB of' answer.txt
    python3 -c "import sys; sys.exit(not 12 < $made_us - $recorded_us < 24)"
}

@test "gradients of two optimisers' steps in a step are reduced apart" {
    # Two models in turn: one of 8 MiB twice, then both of 12 MiB, in two buckets each.
    step 4194304 4194304 0 6291456 > step.jsonl
    asked ddp=2
    grep -q ' 28.0 MiB of gradients a step in 6 buckets' answer.txt
    grep -q 'Optimizers step several times in a recorded step' answer.txt
    [ "$(grep -c no_sync answer.txt)" -eq 0 ]
    # Two optimisers of one model: both steps are behind the gradients.
    step 4194304 0 > step.jsonl
    asked ddp=2
    grep -q ' 8.0 MiB of gradients a step in 2 buckets' answer.txt
    [ "$(grep -c optimisers answer.txt)" -eq 0 ]
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
    grep -q "passes without an optimizer step after them reduce nothing" answer.txt
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

# steps STEPS: so many are found in step.jsonl.
steps() {
    "$GRIDTIDE" whatif -q -f json step.jsonl --change connections=16 > answer.json
    jq -e ".steps == $1" answer.json
}

@test "steps that nothing marks end with the optimiser's, where they are about as long" {
    unmarked 4 0 > step.jsonl
    steps 3
    unmarked 4 9 > step.jsonl # what came before is no step
    steps 2
    unmarked 12 0 > step.jsonl # the optimiser is not all that ends a step: the same call comes again and again
    steps 20
}

@test "an optimiser's step at the head of a recorded step belongs to the one before" {
    # As where the profiler's step is told between backward pass and optimiser: what is repeated is the passes alone.
    program '4194304' '0 4194304' '0 4194304' '0 4194304' > step.jsonl
    for passes in 1 2 3; do
        asked ddp=2 "accumulate=$passes" > "us.$passes"
        grep -q ' 8.0 MiB of gradients a step in 2 buckets' answer.txt
    done
    paste us.1 us.2 us.3
    python3 -c "import sys; a = list(map(float, sys.argv[1:])); sys.exit(not abs(a[2] - 2 * a[1] + a[0]) < 1)" \
        "$(cat us.1)" "$(cat us.2)" "$(cat us.3)"
}

@test "an optimiser that goes forward and backward itself, or holds another, is one" {
    # step(closure): the range holds passes and update.
    {
        program | head -n 2
        for i in 0 1 2; do
            echo "{\"range\":\"ProfilerStep#$i\",\"kind\":\"step\",\"calls\":5}"
            echo '{"range":"Optimizer.step#LBFGS.step","kind":"annotation","calls":5}'
            pass 4194304
            echo '{"call":"launch","kernel":"k","stream":"s"}'
        done
    } > step.jsonl
    for change in ddp=2 'ddp=2 accumulate=2'; do
        # shellcheck disable=SC2086
        asked $change
        grep -q ' 8.0 MiB of gradients a step in 2 buckets' answer.txt
    done
    # One around another: as one of the same calls.
    for inner in '' '{"range":"Optimizer.step#SGD.step","kind":"annotation","calls":1}'; do
        {
            program | head -n 2
            for i in 0 1 2; do
                echo "{\"range\":\"ProfilerStep#$i\",\"kind\":\"step\",\"calls\":14}"
                for _ in 1 2; do
                    pass 4194304
                    echo '{"range":"Optimizer.step#Lookahead.step","kind":"annotation","calls":3}'
                    echo '{"call":"launch","kernel":"k","stream":"s"}'
                    echo "$inner"
                    echo '{"call":"launch","kernel":"k","stream":"s"}'
                    echo '{"call":"launch","kernel":"k","stream":"s"}'
                done
            done
        } | grep . > step.jsonl
        asked accumulate=3 >> nested
    done
    [ "$(sort -u nested | wc -l)" -eq 1 ]
}

@test "passes of two models that a change repeats are reduced once each" {
    step 4194304 4194304 0 6291456 > step.jsonl
    asked ddp=2 accumulate=3
    grep -q ' 28.0 MiB of gradients a step in 6 buckets' answer.txt
}

@test "gradients that stand before their thread's first call are as many in each copy" {
    {
        program | head -n 2
        echo '{"range":"torch::autograd::AccumulateGrad","calls":0,"gradient_bytes":10485760}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
        echo '{"range":"torch::autograd::AccumulateGrad","calls":1,"gradient_bytes":10485760}'
        echo '{"call":"launch","kernel":"k","stream":"s"}'
    } > step.jsonl
    for passes in 1 2 3; do
        asked ddp=2 "accumulate=$passes"
        grep -q ' 10.0 MiB of gradients a step in 1 bucket,' answer.txt
    done
    run asked accumulate=2 accumulate=3
    "$GRIDTIDE" whatif -q step.jsonl --change accumulate=2 --change accumulate=3 2>&1 | grep -q 'say accumulate=6'
}

# late RANK CHANGE...: the step's us where that rank is late by 5 ms.
late() {
    asked "${@:2}" "delay=$1:5000:before=aten::mm"
}

@test "any rank of those that a change adds can be late, in every step" {
    step 4194304 > step.jsonl
    for change in ddp=2 ddp=3; do
        [ "$(late 0 "$change")" = "$(late 1 "$change")" ]
        grep -q 'host of rank 1 is late by 5000.000 us 3 times' answer.txt
    done
}

@test "a thread that fetches data is not taken for the one that asked, and what changes nothing changes nothing" {
    {
        program | head -n 2
        for i in 0 1 2; do
            echo "{\"range\":\"ProfilerStep#$i\",\"kind\":\"step\",\"calls\":6,\"thread\":\"m\"}"
            pass 4194304 | sed 's/}$/,"thread":"m"}/'
            echo '{"call":"host_work","duration_us":150,"thread":"l"}'
            echo '{"call":"copy","direction":"h2d","bytes":4096,"memory":"pinned","stream":"c","thread":"l"}'
        done
    } > step.jsonl
    baseline_us=$("$GRIDTIDE" whatif -q -f json step.jsonl --change connections=16 | jq .step_us)
    for change in connections=16 accumulate=1; do
        [ "$(asked "$change")" = "$baseline_us" ]
    done
}

@test "kernels that blocks launch are launched by each copy of theirs" {
    # A tree of four leaves beside each other; each pass as long as the recorded one but for the optimiser.
    {
        program | head -n 2
        echo '{"kernel":"leaf","grid":66,"block":128,"block_us":30}'
        echo '{"kernel":"tree","grid":1,"block":32,"block_us":3,"launches":[{"kernel":"leaf","count":4,"at":0.5,"into":"fire_and_forget"}]}'
        for i in 0 1 2; do
            echo "{\"range\":\"ProfilerStep#$i\",\"kind\":\"step\",\"calls\":5}"
            pass 4194304 | sed '0,/"kernel":"k"/s//"kernel":"tree"/'
            optimiser
        done
    } > step.jsonl
    one_us=$("$GRIDTIDE" whatif -q -f json step.jsonl --change connections=16 | jq .step_us)
    for passes in 2 3; do
        python3 -c "import sys; sys.exit(not $(asked "accumulate=$passes") <= $passes * $one_us)"
    done
    "$GRIDTIDE" whatif -q step.jsonl --change ddp=2 -o run.db
    sqlite3 run.db "SELECT n.gpu_no, sum(p.end_ps) FROM run_op p JOIN run r USING (run_id)
        JOIN op_named n ON n.trace_id = r.trace_id AND n.op_no = p.op_no
        WHERE r.options = 'whatif ddp=2' AND n.name = 'leaf' GROUP BY n.gpu_no" | cut -d'|' -f2 > leaves
    [ "$(wc -l < leaves)" -eq 2 ]
    [ "$(sort -u leaves | wc -l)" -eq 1 ]
}
