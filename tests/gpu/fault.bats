# A kernel that faults while `gridtide validate` plays: that trace fails, the others go on, the store is whole.

setup() {
    cd "$BATS_TEST_TMPDIR"
    injected="$GRIDTIDE_BUILD/tests/gpu/injected.so"
    [ -e "$injected" ] || skip "built without nvcc"
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    for name in before after; do
        cat > $name.jsonl <<END
{"gridtide":1,"name":"$name"}
{"kernel":"k","grid":8,"block":64,"block_us":10}
{"call":"launch","kernel":"k","stream":"a"}
END
    done
    # 20 repetitions of 100 ms: time enough to make a kernel fault in the middle of them.
    cat > during.jsonl <<'END'
{"gridtide":1,"name":"during"}
{"kernel":"k","grid":8,"block":64,"block_us":100000}
{"call":"launch","kernel":"k","stream":"a"}
END
    "$GRIDTIDE" validate before.jsonl --repeat 1 -o probe.db -q || skip "no GPU to play on"
}

@test "validate: a kernel that faults ends its trace, not the others" {
    CUDA_INJECTION64_PATH="$injected" GRIDTIDE_TEST_FAULT=fault.now \
        "$GRIDTIDE" validate before.jsonl during.jsonl after.jsonl --repeat 20 -o v.db > out.txt 2> err.txt &
    process=$!
    # The first trace has been told: the second one is being played, a second or more.
    until grep -q '^before ' out.txt || ! kill -0 $process; do sleep 0.01; done
    sleep 0.5
    touch fault.now
    status=0
    wait $process || status=$?
    cat out.txt err.txt
    [ "$status" -eq 1 ]
    [ ! -e fault.now ]
    grep -q '^gridtide: during: a fault on the GPU ended it' err.txt
    grep -q '^after ' out.txt
    [ "$(sqlite3 v.db 'PRAGMA integrity_check')" = ok ]
    [ -z "$(sqlite3 v.db 'PRAGMA foreign_key_check')" ]
    for name in before after; do
        [ "$(sqlite3 v.db "SELECT count(*) FROM run r JOIN trace t USING (trace_id)
            WHERE t.name = '$name' AND r.kind = 'measured' AND whole = 1")" -eq 20 ]
    done
    [ "$(sqlite3 v.db "SELECT count(*) < 20 FROM run r JOIN trace t USING (trace_id)
        WHERE t.name = 'during' AND r.kind = 'measured'")" -eq 1 ]
    "$GRIDTIDE" compare v.db
}

@test "validate: where nothing was measured before a fault, no store is left" {
    touch fault.now
    run env CUDA_INJECTION64_PATH="$injected" GRIDTIDE_TEST_FAULT=fault.now \
        "$GRIDTIDE" validate during.jsonl --repeat 20 -o v.db
    echo "$output"
    [ "$status" -eq 1 ]
    [ ! -e v.db ]
}
