# Jobs of several ranks made up by hand, whose times are known: what real recordings have seldom.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    made=$GRIDTIDE_SOURCE/tests/data/ranks
}

# off JOB: imported and replayed; by how many per cent its makespan is off.
off() {
    "$GRIDTIDE" import -q "$made/$1".rank?.json.gz -o "$1.jsonl"
    "$GRIDTIDE" run -q "$1.jsonl" -o "$1.db"
    "$GRIDTIDE" compare -f json "$1.db" | jq '.makespan_us.error_pct | fabs'
}

@test "what was asked for before the recording comes before the waits that it has" {
    # Hosts run ahead of their GPUs, and two of four ranks were recorded from one step later on: the collectives that were queued by then
    # must not wait for those of the next step (which was a circle of waits).
    [ "$(off queued | jq '. < 0.5')" = true ]
}

@test "calls that were lost within a recording are where their operations begin" {
    # An event is recorded in the stream at 500 us; four kernels from 1,000 us on have no calls, which came behind it by their numbers.
    [ "$(off lost-calls | jq '. < 0.1')" = true ]
}

@test "messages are what their operator says: an all-to-all of PyTorch 2.1 and 2.2" {
    [ "$(off announced | jq '. < 0.1')" = true ]
    "$GRIDTIDE" explain -f json announced.db | jq -e '.ranks | length == 2 and all(.[]; .collectives == 4)'
}

@test "a wait whose stream is known stays that stream's" {
    # Tensor-parallel collectives that are waited for at once, beside data-parallel ones that are not; 24 waits of the stream that computes.
    [ "$(off two-groups | jq '. < 0.1')" = true ]
    [ "$(grep -c '"call":"event_wait".*"stream":"\?7["@,]' two-groups.jsonl)" -ge 24 ]
}

@test "collectives whose parts do not end at once are told as well" {
    # A broadcast from rank 0 in each of three steps, and three reductions: 12 parts of each GPU, and all of their time.
    off broadcasts
    "$GRIDTIDE" explain -f json broadcasts.db > explain.json
    jq -e '.ranks | length == 3 and all(.[]; .collectives == 12)' explain.json
    for gpu in 0 1 2; do
        simulated=$(sqlite3 broadcasts.db "SELECT SUM(p.end_ps - p.start_ps) / 1e6 FROM run_op p JOIN run r USING (run_id)
            JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no
            JOIN stream s ON s.trace_id = o.trace_id AND s.stream_no = o.stream_no
            WHERE r.kind = 'simulated' AND k.name LIKE 'nccl%' AND s.gpu_no = $gpu")
        jq -e ".ranks[$gpu] | (.hidden_us + .exposed_us - $simulated) | fabs < 0.01" explain.json
    done
}

# later JOB SPEC: by how much all takes longer, in microseconds.
later() {
    "$GRIDTIDE" import -q "$made/$1".rank?.json.gz -o "$1.jsonl"
    "$GRIDTIDE" whatif -q -f json "$1.jsonl" --change "$2" | jq '.changes[0].predicted_us - .baseline_us'
}

@test "a GPU is late from where its thread has come to, and directly before a kernel" {
    # Rank 1 begins 300 us behind rank 0: 200 us more are 200, and what the launch of what holds its GPU takes.
    [ "$(later late-begin delay=1:200:gpu | jq '. > 195 and . < 210')" = true ]
    [ "$(later late-begin delay=1:200 | jq '. > 195 and . < 205')" = true ]
    # Behind 500 us of the host's work, 300 us in each of three steps.
    [ "$(later late-kernel delay=1:300:gpu:before=bwd_a | jq '. > 890 and . < 915')" = true ]
}
