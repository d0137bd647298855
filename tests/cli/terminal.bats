# Tables on a terminal: nothing is wider than it, nothing is cut without a word; a pipe gets everything.

setup()
{
    command -v script > /dev/null || skip "script is not installed"
    cd "$BATS_TEST_TMPDIR"
}

# on_terminal COLUMNS ARGUMENTS...: what the program prints on a terminal of that width.
on_terminal()
{
    local columns=$1
    shift
    COLUMNS=$columns script -qec "'$GRIDTIDE' $*" /dev/null < /dev/null | tr -d '\r'
}

# widest: the number of characters in the longest line.
widest()
{
    wc -L
}

@test "every table fits a terminal of 80 columns" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" -o train.db
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/profiles/last.jsonl.zst" -o kernels.db
    cat > ranges.jsonl <<'END'
{"gridtide":1,"name":"ranges","device":"h200"}
{"kernel":"k","grid":132,"block":256}
{"range":"ProfilerStep#1017","kind":"step","start_us":123456,"duration_us":123456}
{"range":"autograd::engine::evaluate_function: ConvolutionBackward0","kind":"annotation","start_us":123456,"duration_us":100000}
{"call":"launch","kernel":"k","start_us":123500,"duration_us":9,"op_start_us":123600,"op_duration_us":123000}
{"call":"device_sync","start_us":123600,"duration_us":123100}
END
    "$GRIDTIDE" run -q ranges.jsonl -o ranges.db
    for words in 'stats train.db' 'stats ranges.db' 'compare train.db' 'stats -r measured train.db' 'compare kernels.db' \
                 'explain kernels.db 0' 'explain --full train.db' 'explain train.db' 'diff train.db kernels.db' devices 'devices h200' 'devices --describe' --help \
                 "compare '$GRIDTIDE_SOURCE/validate/recordings/h200.db'" \
                 "run '$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz' -o again.db"; do
        on_terminal 80 "$words" > printed
        echo "$words: $(widest < printed)"
        [ "$(widest < printed)" -le 80 ]
        [ "$(wc -l < printed)" -gt 2 ]
    done
}

@test "names on a terminal are different where they differ, and one that is cut has an ellipsis" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" -o train.db
    on_terminal 80 stats train.db | sed -n '/^kernels$/,/^$/p' | grep -v '^ ' | sed '1,2d; /^$/d' > names
    "$GRIDTIDE" stats train.db -f csv | tr -d '\r' | grep '^kernels,' | wc -l > count
    [ "$(wc -l < names)" -eq "$(cat count)" ]
    [ "$(sort -u names | wc -l)" -eq "$(cat count)" ]
    grep -q '…' names
}

@test "a pipe gets whole names, a row a line, whatever COLUMNS says" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" -o train.db
    COLUMNS=80 "$GRIDTIDE" stats train.db > printed
    [ "$(widest < printed)" -gt 200 ]
    run grep -c '…' printed
    [ "$output" -eq 0 ]
}

@test "a wider terminal gets wider tables" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-4.json.gz" -o run.db
    on_terminal 80 stats run.db > narrow
    on_terminal 200 stats run.db > wide
    grep -q '^ *gpu stream name operations *busy busy_pct idle_before idle_between' wide
    [ "$(wc -l < wide)" -lt "$(wc -l < narrow)" ]
}
