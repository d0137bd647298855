# Programs that share a GPU: gridtide run A B --share.

setup()
{
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    cd "$BATS_TEST_TMPDIR"
    for name in a b; do
        printf '%s\n' "{\"gridtide\":1,\"name\":\"$name\",\"device\":\"toy\"}" '{"kernel":"k","grid":2,"block":64,"block_us":250}' \
            '{"call":"launch","kernel":"k"}' '{"call":"device_sync"}' > $name.jsonl
    done
}

ends() # STORE: when each operation ends, in us
{
    sqlite3 "$1" "SELECT group_concat(end_ps / 1000000, ' ') FROM (SELECT end_ps FROM run_op ORDER BY op_no)"
}

@test "share: time slices, MPS, percentages and green contexts give other times" {
    # As in tests/golden/slices-two.jsonl; half of two SMs has room for both blocks.
    "$GRIDTIDE" run -q a.jsonl b.jsonl --share sliced -o sliced.db
    [ "$(ends sliced.db)" = "511 581" ]
    [ "$(sqlite3 sliced.db 'SELECT name FROM trace')" = "a + b" ]
    [[ $(sqlite3 sliced.db 'SELECT options FROM run') == *share=sliced* ]]
    # Blocks last until they end, with the time that they stood; all are of the one GPU.
    [ "$(sqlite3 sliced.db 'SELECT group_concat(DISTINCT end_ps / 1000000) FROM run_block')" = "511,581" ]
    "$GRIDTIDE" stats sliced.db > stats
    for share in mps mps:50 mps:100,50 green:1 green:1,1; do
        "$GRIDTIDE" run -q a.jsonl b.jsonl --share $share -o other.db
        [ "$(ends other.db)" = "251 251" ]
        rm other.db
    done
}

@test "share: one trace's processes share as --share says" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/tests/golden/slices-two.jsonl" --share mps -o mps.db
    [ "$(ends mps.db)" = "251 251" ]
}

@test "share: recorded programs run beside each other, and nothing is said to be measured" {
    samples="$GRIDTIDE_SOURCE/traces/samples"
    run "$GRIDTIDE" run "$samples/pytorch-decode.json.gz" "$samples/pytorch-prefetch.json.gz" --share sliced -o two.db
    [ "$status" -eq 0 ]
    [[ $output == *"programs-apart"* ]]
    [ "$(sqlite3 two.db "SELECT count(*) FROM run WHERE kind = 'measured'")" -eq 0 ]
    [ "$(sqlite3 two.db 'SELECT count(DISTINCT process) FROM thread')" -eq 2 ]
    [ "$(sqlite3 two.db 'SELECT max(gpu_no) FROM run_bin')" -eq 0 ]
    "$GRIDTIDE" explain -q two.db > explained
}

@test "share: MIG instances have so many SMs, and say that nobody measured it" {
    for name in a b; do sed 's/"toy"/"h200"/; s/"grid":2/"grid":132/; s/"block":64/"block":1024/; s/"block_us":250/"registers":64,"block_us":250/' $name.jsonl > m$name.jsonl; done
    # One block an SM: 132 blocks on 60 SMs take three waves of 250 us, on 64 too.
    run "$GRIDTIDE" run ma.jsonl mb.jsonl --share mig:3g.40gb,4g -o mig.db
    [ "$status" -eq 0 ]
    [[ $output == *mig-documented* ]]
    [ "$(sqlite3 mig.db 'SELECT (min(end_ps - start_ps) / 250000000) || (max(end_ps - start_ps) / 250000000) FROM run_op')" = "33" ]
    for share in mig:4g mig:5g mig:7g,1g; do
        run "$GRIDTIDE" run -q ma.jsonl mb.jsonl --share $share -o no.db
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
    done
    run "$GRIDTIDE" run -q a.jsonl b.jsonl --share mig:1g -o no.db
    [[ $output == *"has no MIG instances"* ]]
}

@test "share: what cannot be is said in a line" {
    run "$GRIDTIDE" run a.jsonl b.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"say how with --share"* ]]
    for share in huh mps:0 mps:101 mps:1,2,3 green green:2; do
        run "$GRIDTIDE" run -q a.jsonl b.jsonl --share $share -o no.db
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [ ! -e no.db ]
    done
    sed 's/"name":"a"/"name":"a","x":1/; 1a {"thread":"t","share":"mps:200"}' a.jsonl > bad.jsonl
    run "$GRIDTIDE" run -q bad.jsonl -o no.db
    [ "$status" -eq 1 ]
    [[ $output == *bad.jsonl:2:*percentage* ]]
    for streams in '{"stream":"s","green":1}' '{"stream":"s","green":1,"sms":3}' \
        '{"stream":"s","green":1,"sms":1}\n{"stream":"t","green":1,"sms":2}' '{"stream":"s","green":1,"sms":1}\n{"stream":"t","green":2,"sms":2}'; do
        printf '%b\n' '{"gridtide":1,"name":"g","device":"toy"}' '{"kernel":"k","grid":1,"block":64,"block_us":1}' "$streams" \
            '{"call":"launch","kernel":"k","stream":"s"}' '{"call":"launch","kernel":"k","stream":"t"}' > bad.jsonl
        run "$GRIDTIDE" run -q bad.jsonl -o no.db
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == *green* ]]
    done
}

@test "share: clusters and barriers over a grid keep to the SMs that their process has" {
    cat > c.jsonl <<'EOF'
{"gridtide":1,"name":"c","device":"h200"}
{"thread":"a","process":1,"share":"mps:10"}
{"thread":"b","process":2,"share":"green:16"}
{"thread":"c","process":3}
{"stream":"sa","context":1}
{"stream":"sb","context":2}
{"stream":"sc","context":3}
{"kernel":"k","grid":64,"block":256,"cluster":8,"block_us":300}
{"call":"launch","thread":"a","kernel":"k","stream":"sa"}
{"call":"launch","thread":"b","kernel":"k","stream":"sb"}
{"call":"launch","thread":"c","kernel":"k","stream":"sc"}
{"call":"memset","thread":"a","bytes":1000000,"stream":"sa"}
EOF
    "$GRIDTIDE" run -q c.jsonl -o c.db
    # 10% of 132 SMs are 12, of which one cluster of 8 has 8 SMs, and the next ones the same.
    [ "$(sqlite3 c.db 'SELECT count(DISTINCT sm) FROM run_block WHERE op_no = 0')" -eq 8 ]
    [ "$(sqlite3 c.db 'SELECT count(DISTINCT sm) FROM run_block WHERE op_no = 1')" -eq 16 ]
    printf '%s\n' '{"gridtide":1,"device":"toy"}' '{"thread":"a","share":"mps:50"}' \
        '{"kernel":"k","grid":8,"block":64,"block_us":50,"cooperative":true,"grid_barriers":1}' \
        '{"call":"launch","thread":"a","kernel":"k"}' > d.jsonl
    run "$GRIDTIDE" run -q d.jsonl -o d.db
    [ "$status" -eq 1 ]
    [[ $output == *"8 blocks cooperatively, and 4 fit at once (4 on each of 1 SMs)"* ]]
}
