# The whole chain on every sample that is shipped: profile or trace in, all views out.

setup()
{
    cd "$BATS_TEST_TMPDIR"
}

# chain SOURCE: import where it is a profile, run, and every reader of the store.
chain()
{
    local trace=$1
    if [[ "$1" == *.json.gz ]]; then
        trace=trace.jsonl.gz
        "$GRIDTIDE" import -q "$1" -o "$trace"
    fi
    "$GRIDTIDE" run -q "$trace" -o run.db
    "$GRIDTIDE" compare --format json run.db > compare.json
    "$GRIDTIDE" stats --format json run.db > stats.json
    "$GRIDTIDE" export perfetto run.db -o run.pftrace
    "$GRIDTIDE" export csv run.db -o run.csv
    [ -s compare.json ] && [ -s stats.json ] && [ -s run.pftrace ] && [ -s run.csv ]
}

@test "recorded samples pass through the whole chain" {
    for sample in "$GRIDTIDE_SOURCE"/traces/samples/*.json.gz; do
        echo "$sample"
        chain "$sample"
    done
}

@test "hand-written samples pass through the whole chain" {
    for sample in "$GRIDTIDE_SOURCE"/traces/samples/*.jsonl; do
        echo "$sample"
        chain "$sample"
    done
}

@test "a trace of a header alone passes through the whole chain" {
    echo '{"gridtide":1}' > empty.jsonl
    chain "$PWD/empty.jsonl"
}

@test "the same command twice gives the same bytes" {
    for turn in 1 2; do
        mkdir $turn
        (cd $turn && chain "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-4.json.gz")
    done
    cmp 1/trace.jsonl.gz 2/trace.jsonl.gz
    cmp 1/run.pftrace 2/run.pftrace
    cmp 1/run.csv 2/run.csv
    cmp 1/compare.json 2/compare.json
    cmp 1/stats.json 2/stats.json
}

@test "an imported trace says the same as its profile" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-prefetch.json.gz" -o direct.db
    chain "$GRIDTIDE_SOURCE/traces/samples/pytorch-prefetch.json.gz"
    "$GRIDTIDE" export csv direct.db -o direct.csv
    cmp direct.csv run.csv
}
