#!/usr/bin/env bats
# What PyTorch's ExecutionTraceObserver says beside a Kineto profile: programs recorded on an H200 by
# traces/record/torch_streams.py.

bats_require_minimum_version 1.5.0

DATA=$GRIDTIDE_SOURCE/tests/data/execution-trace

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# both NAME: NAME.jsonl of the profile and the execution trace.
both()
{
    "$GRIDTIDE" import kineto "$DATA/$1.kineto.json.gz" --execution-trace "$DATA/$1.et.json.gz" -o "$1.jsonl" -q
}

# races NAME COUNT: so many are found, of programs of which all is known.
races()
{
    both "$1"
    found=$("$GRIDTIDE" check -q "$1.jsonl" --format json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(len(answer["races"]), answer["covered_pct"])')
    [ "$found" = "$2 100" ] || { echo "$1: $found"; return 1; }
}

@test "training steps in the default stream have no races" {
    races mlp 0
    races attention 0
}

@test "a wait_stream that is missing is a race, one that is there is none" {
    races side-safe 0
    races side-before 1
    races side-after 1
    races prefetch-safe 0
    races prefetch-racy 3
}

@test "the note's patterns of backward passes in side streams" {
    races backward-1 0
    races backward-2 1
    races backward-3 0
    races backward-4 0
    races backward-5 2 # two kernels of the backward pass read the initial gradient
    races backward-6 0
}

@test "views that overlap in part race, halves do not" {
    races views-apart 0
    races views-overlap 1
}

@test "memory that is given out again while another stream reads it is a race, unless the stream was recorded" {
    races reuse-racy 1
    races reuse-recorded 0
    grep -q '"call":"record_stream"' reuse-recorded.jsonl
}

@test "the wait that would help is told with the streams of the profile" {
    both side-before
    run -1 --separate-stderr "$GRIDTIDE" check -q side-before.jsonl
    [[ $output == *"wait_stream(default_stream)"* ]]
}

@test "without the execution trace nothing is known" {
    "$GRIDTIDE" import kineto "$DATA/side-before.kineto.json.gz" -o alone.jsonl -q
    run -0 --separate-stderr "$GRIDTIDE" check -q alone.jsonl
    [[ $output == *"none found, but the accesses of 4 operations are unknown"*"0.0%"* ]]
}

@test "an execution trace that is none, is cut off or nested without end is an error" {
    profile=$DATA/side-before.kineto.json.gz
    echo '{"nodes":3}' > wrong.json
    run -1 --separate-stderr "$GRIDTIDE" import kineto "$profile" --execution-trace wrong.json -o out.jsonl
    [[ $stderr == *"wrong.json: \"schema\" or list \"nodes\" is missing"* ]]
    : > empty.json
    run -1 --separate-stderr "$GRIDTIDE" import kineto "$profile" --execution-trace empty.json -o out.jsonl
    [[ $stderr == *"empty.json: not an execution trace: the file is empty"* ]]
    gunzip -c "$DATA/side-before.et.json.gz" > whole.json
    bytes=$(wc -c < whole.json)
    for ((length = 0; length < bytes; length += 97)); do
        head -c "$length" whole.json > cut.json
        run -1 --separate-stderr "$GRIDTIDE" import kineto "$profile" --execution-trace cut.json -o out.jsonl
        [[ $stderr == *"cut.json: not an execution trace: "* ]]
    done
    printf '{"schema":"1","nodes":%0.s' {1..100} > deep.json
    run -1 --separate-stderr "$GRIDTIDE" import kineto "$profile" --execution-trace deep.json -o out.jsonl
    [ ! -e out.jsonl ]
    run -1 "$GRIDTIDE" import kineto "$profile" --execution-trace nothing.json -o out.jsonl
}

@test "nodes of any form are read or passed over" {
    cat > odd.json << 'ET'
{"schema":"1.1.1-chakra.0.0.4","nodes":[3,null,{},{"name":4,"attrs":[]},{"name":"a","attrs":[{"name":"rf_id","value":"x"}]},
{"name":"a","attrs":[{"name":"rf_id","value":7}],"inputs":{"values":[[1,2,3,4,5,"cuda:99999999"],[1,-2,3,4,5,"cuda:0"],
[1,2,9000000000000000000,4,9000000000000000000,"cuda:0"],[[[[1]]]]],"shapes":[1,2],"strides":[[[]]]},"outputs":5}]}
ET
    "$GRIDTIDE" import kineto "$DATA/side-before.kineto.json.gz" --execution-trace odd.json -o out.jsonl -q
}

@test "an execution trace goes with one profile" {
    profile=$DATA/side-before.kineto.json.gz
    run -2 "$GRIDTIDE" import kineto "$profile" "$profile" --execution-trace "$DATA/mlp.et.json.gz" -o out.jsonl
    run -1 --separate-stderr "$GRIDTIDE" import "$GRIDTIDE_SOURCE/traces/samples/race-reuse.jsonl" \
        --execution-trace "$DATA/mlp.et.json.gz" -o out.jsonl
    [[ $stderr == *"race-reuse.jsonl: --execution-trace needs a profile from PyTorch's profiler"* ]]
    [ ! -e out.jsonl ]
}

@test "an execution trace of another run, or of another part of it, is refused by what does not fit" {
    run -1 "$GRIDTIDE" import kineto "$DATA/mlp.kineto.json.gz" --execution-trace "$DATA/side-safe.et.json.gz" -o x.jsonl
    [[ "$output" == *"side-safe.et.json.gz: belongs to another run than the profile, or to another part of it: of 100 operators in the profile, 0 have"* ]]
    [ ! -e x.jsonl ]
    gzip -dc "$DATA/mlp.et.json.gz" | sed 's/"pid":2794/"pid":77/' > other.json
    run -1 "$GRIDTIDE" import kineto "$DATA/mlp.kineto.json.gz" --execution-trace other.json -o x.jsonl
    [[ "$output" == *"other.json: belongs to another run than the profile: it is from process 77"* ]]
    # the same numbers, other operators
    gzip -dc "$DATA/mlp.et.json.gz" | sed 's/"name":"aten::/"name":"aten::other_/g' > names.json
    run -1 "$GRIDTIDE" import kineto "$DATA/mlp.kineto.json.gz" --execution-trace names.json -o x.jsonl
    [[ "$output" == *"names.json: belongs to another run than the profile, or to another part of it"*"the same name"* ]]
}

# written NAME COUNT PERCENT: so many races in a program that was written by hand, and of so many per cent it is known what they read and
# write.
written()
{
    both "written/$1"
    found=$("$GRIDTIDE" check -q "written/$1.jsonl" --format json | jq -r '"\(.races | length) \(.covered_pct)"')
    [ "$found" = "$2 $3" ] || { echo "$1: $found"; return 1; }
}

@test "memory is given out in the stream in which it always was, whatever its thread does next" {
    mkdir written
    # torch.empty() in the default stream of memory that it had before, written in a side stream that does not wait.
    written empty-elsewhere 1 100
    # torch.empty() in a side stream, whose next operation is the default stream's: that does not come after the side stream's.
    written empty-alone 1 100
    # The first one, but for empty_cache() between, behind which the address is the side stream's.
    written cache-emptied 0 100
    # torch.empty() in side stream 13, whose thread's next operation is the default stream's; the same address later, in an operator in 13.
    written empty-first 0 100
    [ "$(grep -cE '"call":"(alloc|free)".*"stream":13,' written/empty-first.jsonl)" -eq 3 ]
}

@test "record_stream is for one life of a buffer, and for streams that used it" {
    mkdir written
    written recorded-before 1 100 # the memory's first tensor alone was recorded
    written read-back 1 100       # item() asks no stream for anything behind its copy
}

@test "a tensor in a block of the allocator that is larger has its address" {
    mkdir written
    written whole-block 0 100 # 12,000,000 bytes in 12 MiB: given out again behind record_stream
}

@test "an operator that waits inside reads again behind that, and writes no result that it does not have yet" {
    mkdir written
    written waits-inside 1 80 # nonzero() counts, waits, and reads its input again; what its copy of the count reads nobody says
    written result-later 0 80 # the result gets memory that was freed, behind the count
}

@test "a batch norm in training writes its running mean, though its schema does not say so" {
    mkdir written
    written batch-norm 1 100
}

@test "a wait that held still when the default stream was done does not make a stream a blocking one" {
    mkdir written
    written waited-before 1 100
}

@test "execution traces of older PyTorch: flat nodes are read, views without strides may reach further" {
    mkdir written
    written flat 1 100
    written no-strides 0 0 # a column of a matrix, and a row: of each the first element is certain
    "$GRIDTIDE" check -q written/no-strides.jsonl --format json | jq -e '(.possible | length) == 1 and .verdict != "no races"'
}

@test "of a list that the observer cut off nothing is known" {
    mkdir written
    for items in 4096 4097; do
        cp "$DATA/written/whole-block.kineto.json.gz" k.json.gz
        zcat "$DATA/written/whole-block.et.json.gz" | python3 -c "
import json, sys
trace = json.load(sys.stdin)
node = next(n for n in trace['nodes'] if n['name'] == 'aten::mul')
for side in node['inputs'].values():
    side[0] = [side[0]] * $items
json.dump(trace, sys.stdout)" > et.json
        "$GRIDTIDE" import kineto k.json.gz --execution-trace et.json -o "$items.jsonl" -q
    done
    "$GRIDTIDE" check -q 4096.jsonl --format json | jq -e '.covered_pct == 100'
    "$GRIDTIDE" check -q 4097.jsonl --format json | jq -e '.covered_pct < 100'
}
