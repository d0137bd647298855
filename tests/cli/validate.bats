# gridtide validate where there is no GPU, and what is said of wrong usage.

setup() {
    cd "$BATS_TEST_TMPDIR"
    cat > t.jsonl <<'END'
{"gridtide":1,"name":"t","device":"toy"}
{"kernel":"k","grid":8,"block":64,"block_us":10}
{"call":"launch","kernel":"k","stream":"a"}
END
}

@test "validate: without a GPU it says so, with status 1, and makes no store" {
    export CUDA_VISIBLE_DEVICES=
    run "$GRIDTIDE" validate t.jsonl -o v.db
    [ "$status" = 1 ]
    [[ "$output" == "gridtide: no CUDA GPU: "* || "$output" == *"built without CUDA"* ]]
    [ "${#lines[@]}" = 1 ]
    [ ! -e v.db ]
}

@test "validate: wrong usage is told, with status 2" {
    for wrong in "" "t.jsonl --repeat 0" "t.jsonl --repeat five" "t.jsonl --repeat 1001" "t.jsonl --blocks maybe" \
                 "t.jsonl --seed -1" "t.jsonl -f xml" "t.jsonl --nonsense"; do
        run "$GRIDTIDE" validate $wrong
        echo "$wrong: $output"
        [ "$status" = 2 ]
    done
}
