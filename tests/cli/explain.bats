# gridtide explain RUN.db: why a timeline is as it is. Each trace in tests/data/explain shows one thing.

setup() {
    command -v jq > /dev/null || skip "no jq"
}

# Simulate a trace and explain it, as JSON.
explained() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/tests/data/explain/$1.jsonl" -o "$BATS_TEST_TMPDIR/run.db"
    run bash -c "'$GRIDTIDE' explain --format json '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
    [ "$status" -eq 0 ]
}

@test "explain: two kernels in two streams that run one after the other had no room: registers" {
    explained no-room
    jq -e '.pairs | length == 1 and .[0].why == "resource" and (.[0].room | startswith("no: no SM has free registers"))' <<< "$output"
    jq -e '.pairs[0] | .kernel == "other in stream b" and .waited_for == "long" and .lost_us > 90' <<< "$output"
}

@test "explain: or the default stream came between them, though there was room" {
    explained default-stream
    jq -e '[.pairs[] | select(.why == "default-stream")] | length == 2 and all(.room | startswith("yes"))' <<< "$output"
    jq -e '.findings[] | select(.finding == "no-overlap") | .what | test("default-stream")' <<< "$output"
}

@test "explain: only copies overlap with kernels: the kernels fill the GPU" {
    explained only-copies-overlap
    jq -e '[.copies[].why] | sort == ["engine", "same-stream"]' <<< "$output"
    jq -e '.findings[] | select(.finding == "copies" and (.ask // "" | endswith("prefetch")))' <<< "$output"
}

@test "explain: a priority that was not honoured: blocks that run are not taken away" {
    explained priority
    jq -e '.findings[] | select(.finding == "priority") | .about_us > 250 and (.what | test("urgent in stream high for big"))' \
        <<< "$output"
}

@test "explain: one connection holds the second stream back" {
    explained connection
    jq -e '[.pairs[] | select(.why == "queue")] | length == 1 and .[0].kernel == "b in stream t"' <<< "$output"
    jq -e '.findings[] | select(.finding == "connections") | .ask | endswith("connections=32")' <<< "$output"
}

@test "explain: a pinned asynchronous copy that keeps the host: its stream's queue is full" {
    explained queue-full
    jq -e '.blocked_calls[] | select(.call == "copy") | .why == "queue-full" and .blocked_us > 90' <<< "$output"
}

@test "explain: copies of pageable memory keep the host and overlap with nothing" {
    explained pageable
    jq -e '.copies | length == 1 and .[0].why == "pageable" and .[0].copies == 2' <<< "$output"
    jq -e '.blocked_calls[] | select(.call == "copy") | .why == "pageable-copy"' <<< "$output"
}

@test "explain: a graph of eight short branches is slower than one after the other" {
    explained graph-branches
    jq -e '.findings[] | select(.finding == "graph-branches") | .about_us > 5' <<< "$output"
}

@test "explain: clusters that strand SMs" {
    explained cluster
    jq -e '.findings[] | select(.finding == "clusters") | .what | test("[0-9]+ of 132 SMs ")' <<< "$output"
}

@test "explain: an idle gap has its cause, who held it, and what came before and after" {
    explained host
    jq -e '.gaps | length == 1 and (.[0] | .cause == "host-work" and .gap_us > 200 and .before == "k in stream a" and
        .after == "k in stream a" and (.held_by | test("thread main")))' <<< "$output"
    jq -e '.limit.bound_by == "host" and .limit.gpu_idle_pct > 80' <<< "$output"
    run "$GRIDTIDE" explain --gap 500 --format json "$BATS_TEST_TMPDIR/run.db"
    jq -e '.gaps == []' <<< "$output"
    run "$GRIDTIDE" explain --gap soon "$BATS_TEST_TMPDIR/run.db"
    [ "$status" -eq 2 ]
}

@test "explain: the critical path is shared out to steps and operators" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/pairs/encoder-small.eager.json.gz" -o "$BATS_TEST_TMPDIR/run.db"
    run bash -c "'$GRIDTIDE' explain --format json '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
    [ "$status" -eq 0 ]
    jq -e '.steps | length >= 3 and ([.[].path_pct] | add | . > 90 and . <= 100.01)' <<< "$output"
    jq -e '.operators | any(.operator == "aten::addmm") and ([.[].path_pct] | add <= 100.01)' <<< "$output"
    jq -e '[.gaps[].held_by] | any(test("in aten::"))' <<< "$output"
}

@test "explain: people get every section that says something, and CSV has all by name" {
    explained host
    run "$GRIDTIDE" explain --full "$BATS_TEST_TMPDIR/run.db"
    [ "$status" -eq 0 ]
    for section in limit breakdown host_while_idle critical_path steps operators kernel_families gaps pairs copies blocked_calls findings; do
        grep -qx "$section" <<< "$output"
    done
    for section in breakdown_ranks breakdown_steps launch_tree; do # one GPU, one step, no ranges
        ! grep -qx "$section" <<< "$output" || false
    done
    run bash -c "'$GRIDTIDE' explain --format csv '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
    [ "$status" -eq 0 ]
    for section in gaps breakdown_ranks breakdown_steps launch_tree; do
        grep -q "^$section," <<< "$output"
    done
}

@test "explain: kernels by family, and what bounds most of their time" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-transformer-graph.json.gz" -o "$BATS_TEST_TMPDIR/run.db"
    run bash -c "'$GRIDTIDE' explain --format json '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
    # Eight layers, each with four products, two normalizations, one attention and two activations.
    [ "$(jq -c '[.kernel_families[] | [.family, .kernels, .bound]]' <<< "$output")" = \
        '[["gemm",32,"tensor cores"],["normalization",16,"L2"],["attention",8,"tensor cores"],["elementwise",16,"launch"]]' ]
    jq -e '[.kernel_families[].time_pct] | add | . > 99.9 and . < 100.2' <<< "$output"
    "$GRIDTIDE" stats --format json "$BATS_TEST_TMPDIR/run.db" | jq -e '.kernels[0].family == "gemm" and .kernels[0].bound == "tensor cores"'
}

@test "explain: recorded PyTorch steps are explained without a fault" {
    for sample in pytorch-training-step pytorch-decode pytorch-transformer-graph cuda-fork-join; do
        "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/$sample.json.gz" -o "$BATS_TEST_TMPDIR/run.db"
        run bash -c "'$GRIDTIDE' explain --format json '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
        [ "$status" -eq 0 ]
        jq -e '.limit.bound_by != "unknown" and ([.critical_path[].path_pct] | add > 99.9)' <<< "$output"
    done
}

# As a shell takes it, from the folder that the trace was run from.
@test "explain: what is to be asked can be pasted" {
    cd "$BATS_TEST_TMPDIR"
    for file in "$GRIDTIDE_SOURCE"/tests/data/explain/*.jsonl; do
        cp "$file" "my trace's.jsonl"
        "$GRIDTIDE" run -q "my trace's.jsonl" -o run.db
        run bash -c "'$GRIDTIDE' explain --format json run.db 2> /dev/null"
        [ "$status" -eq 0 ]
        jq -r '.findings[].ask | select(. != null)' <<< "$output" | sort -u > asked
        while read -r line; do
            [[ "$line" == "gridtide whatif 'my trace'\\''s.jsonl' --change "* ]]
            eval "run '$GRIDTIDE' ${line#gridtide } -q"
            echo "$file: $line: $status: $output"
            [ "$status" -ne 2 ]
            [[ "$output" != *"No such file"* ]]
        done < asked
    done
}

@test "explain: of a trace that came from no file, its name; quoted; of one that an option made, the first's" {
    sed "s/\"name\":\"host\"/\"name\":\"my host's\"/" "$GRIDTIDE_SOURCE/tests/data/explain/host.jsonl" |
        "$GRIDTIDE" run -q - --streams 2 -o "$BATS_TEST_TMPDIR/run.db"
    run bash -c "'$GRIDTIDE' explain --format json '$BATS_TEST_TMPDIR/run.db' 2> /dev/null"
    [ "$status" -eq 0 ]
    jq -e "[.findings[].ask | select(. != null)] | length > 0 and
        all(startswith(\"gridtide whatif 'my host'\\\\''s' --change \"))" <<< "$output"
}
