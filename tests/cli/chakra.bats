# Execution traces of MLCommons Chakra: what is exported, read by a decoder and a list scheduler that know no code of Gridtide's
# (tests/data/chakra_et.py), and what is imported: exported ones, and made ones as ASTRA-sim and Chakra's converters write them.

bats_require_minimum_version 1.5.0

data="$GRIDTIDE_SOURCE/tests/data"

setup()
{
    command -v python3 > /dev/null || skip "python3 is not installed"
    cd "$BATS_TEST_TMPDIR" || exit 1
}

checks()
{
    python3 "$data/chakra_checks.py" "$@"
}

# A job of two ranks, joined, as job.jsonl.
job()
{
    "$GRIDTIDE" import -q "$GRIDTIDE_SOURCE/traces/training/$1.rank0.json.gz" \
        "$GRIDTIDE_SOURCE/traces/training/$1.rank1.json.gz" -o job.jsonl
}

@test "a list scheduler over exported recordings takes as long as the recordings did: within 2%" {
    for trace in "$GRIDTIDE_SOURCE"/traces/samples/*.json.gz "$GRIDTIDE_SOURCE"/traces/recorded_programs/[a-lo-z]*.gz \
        "$GRIDTIDE_SOURCE"/traces/recorded_features/*.gz "$GRIDTIDE_SOURCE"/../shared/traces/h200/*.gz \
        "$GRIDTIDE_SOURCE"/../shared/traces/kineto/*sync*.gz; do
        [ ! -f "$trace" ] || "$GRIDTIDE" export chakra "$trace" -o "$(basename "$trace" .gz)" 2> warnings
    done
    for name in mlp.ddp vgg.ddp; do
        job "$name"
        "$GRIDTIDE" export chakra job.jsonl -o "job-$name"
    done
    run checks makespans ./*.et
    echo "# $output" >&3
    [ "$status" -eq 0 ]
}

@test "streams and events are dependences, operation by operation (mlcommons/chakra issue 215)" {
    for name in events pytorch-streams; do
        "$GRIDTIDE" import -q "$GRIDTIDE_SOURCE/traces/recorded_programs/$name.jsonl.gz" -o t.jsonl
        "$GRIDTIDE" export chakra t.jsonl -o t.et
        run checks streams t.jsonl t.et
        echo "# $name: $output" >&3
        [ "$status" -eq 0 ]
    done
}

@test "attributes have the types that Chakra's feeder and ASTRA-sim read, and groups list their ranks" {
    job mlp.ddp
    "$GRIDTIDE" export chakra job.jsonl -o job.et
    for rank in 0 1; do
        run checks types "job.$rank.et"
        [ "$status" -eq 0 ]
        [[ "$output" == *"groups [('1', [0, 1])]" ]]
    done
    if python3 -c 'import chakra.schema.protobuf.et_def_pb2' 2> /dev/null; then
        python3 -c '
import sys
from chakra.schema.protobuf.et_def_pb2 import GlobalMetadata, Node
from chakra.src.third_party.utils.protolib import decodeMessage, openFileRd
file, message = openFileRd("job.0.et"), Node()
assert decodeMessage(file, GlobalMetadata())
assert sum(decodeMessage(file, message) for _ in range(100)) == 100'
    else
        echo "# mlcommons' package chakra is not installed: its own decoder was not asked" >&3
    fi
}

@test "export and import give the same bytes again: nothing of order and times is lost" {
    for trace in "$GRIDTIDE_SOURCE"/traces/samples/*.json.gz "$GRIDTIDE_SOURCE"/traces/recorded_programs/{events,graph-captured,threads,pageable}*; do
        "$GRIDTIDE" export chakra "$trace" -o first.et
        "$GRIDTIDE" import -q first.et -o between.jsonl
        "$GRIDTIDE" export chakra between.jsonl -o second.et
        cmp first.et second.et
    done
    job vgg.ddp
    mkdir job
    "$GRIDTIDE" export chakra job.jsonl -o job/vgg
    "$GRIDTIDE" import -q job -o between.jsonl
    "$GRIDTIDE" export chakra between.jsonl -o second
    checks same job/vgg.0.et second.0.et
    checks same job/vgg.1.et second.1.et
}

@test "a file whose durations were changed is simulated by its dependences, as a list scheduler plays it" {
    "$GRIDTIDE" export chakra "$GRIDTIDE_SOURCE/traces/samples/pytorch-decode.json.gz" -o as-it-was.et
    checks slower 3 as-it-was.et slower.et
    "$GRIDTIDE" run -q slower.et -o slower.db 2> /dev/null
    simulated=$(sqlite3 slower.db "select (max(end_ps) - min(start_ps)) / 1000000 from run_op")
    played=$(checks play slower.et)
    [ "$played" -gt "$(checks play as-it-was.et)" ]
    echo "# simulated $simulated us, list scheduler $played us" >&3
    [ $((simulated * 100)) -lt $((played * 102)) ]
    [ $((simulated * 100)) -gt $((played * 98)) ]
}

@test "ASTRA-sim's generators: collectives, messages and compute nodes without durations" {
    python3 "$data/chakra_made.py" .
    "$GRIDTIDE" import -q all_reduce -o all_reduce.jsonl
    [ "$(grep -c '"collective":"all_reduce","group":"default","bytes":1048576' all_reduce.jsonl)" -eq 4 ]
    "$GRIDTIDE" run -q all_reduce.jsonl -o all_reduce.db

    # A matrix product of 2 * 4096^3 operations on an H200: 132 SMs of 4096 multiply-adds a cycle at 1980 MHz hold it for 64 us
    # and less; its roofline is in the trace. 4.8 GB of DRAM at 4814 GB/s: 997 us.
    run "$GRIDTIDE" import roofline -o roofline.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"node-times-estimated: compute nodes without a duration; they take the roofline's time"*"(4 times)"* ]]
    [ "$(grep -c '"kernel":"work 2".*"op_duration_ns":99[0-9]' roofline.jsonl)" -eq 2 ]
    "$GRIDTIDE" run -q roofline.jsonl -o roofline.db
    [ "$(sqlite3 roofline.db "select count(*) from warning where kind = 'node-times-estimated'")" -eq 1 ]

    "$GRIDTIDE" import -q ring -o ring.jsonl
    [ "$(grep -c '"collective":"send_recv"' ring.jsonl)" -eq 24 ] # of each rank and step one sends, one receives
    "$GRIDTIDE" run -q ring.jsonl -o ring.db
    [ "$(sqlite3 ring.db "select count(*) from run_op")" -eq 36 ]
}

@test "Chakra's converters: attributes that are missing, parents that were removed" {
    python3 "$data/chakra_made.py" .
    "$GRIDTIDE" import -q text -o text.jsonl
    grep -q '^{"group":"default","gpus":\[0,1\]}' text.jsonl
    [ "$(grep -c '"collective":"all_reduce","group":"default","bytes":4194304' text.jsonl)" -eq 1 ] # one kernel, launched by both
    "$GRIDTIDE" run -q text.jsonl -o text.db
    # 50 + 60 + 70 + 80 us one after the other on each rank, the collective beside the last of them
    [ "$(sqlite3 text.db "select (max(end_ps) - min(start_ps)) / 10000000 from run_op where op_no < 5")" -ge 26 ]

    run "$GRIDTIDE" import converter.et -o converter.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"node-parents-missing: "*"(1 times)"* ]]
    [[ "$output" == *"3: 2 kernels, 1 copies, 0 memsets"* ]]
    "$GRIDTIDE" run -q converter.jsonl -o converter.db
    # The host's 20 us, then 100 us and 30 us in stream 7, then the copy of 8 us, which the host waits for.
    starts=$(sqlite3 converter.db "select group_concat(start_ps / 10000000, ' ') from run_op where run_id = 1 order by op_no")
    read -r gemm add copy <<< "$starts"
    [ "$gemm" -ge 2 ] && [ "$add" -ge $((gemm + 10)) ] && [ "$copy" -ge $((add + 3)) ]
}

@test "a dependence that a graph's node names again and again is one edge" {
    python3 "$data/chakra_made.py" .
    "$GRIDTIDE" import -q repeated.et -o repeated.jsonl
    [ "$(grep -c '"after":\[0\]' repeated.jsonl)" -eq 1 ]
}

@test "broken files: one line that names the file and what is wrong" {
    python3 "$data/chakra_made.py" .
    while read -r name wrong; do
        run timeout 20 "$GRIDTIDE" import chakra "broken/$name.et" -o out.jsonl
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" == "gridtide: broken/$name.et: "*"$wrong"* ]]
        [ ! -e out.jsonl ]
    done << 'END'
unknown node 1 depends on node 77, which is not in the file
twice two nodes have the id 1
circle depends on itself, through others or directly
itself node 5 depends on itself
wide node 70000 depends on itself
edges node 65538 depends on more than 65535 nodes of its graph
long which is too long
none there are no nodes
text is no node of a Chakra execution trace
metadata its first message is no GlobalMetadata
empty the file is empty
cut bytes; copy it again
length a field of 4611686018427387904 bytes; the file is damaged
number a number has no end
short the file ends after 1 of a field's 2147483647 bytes
END
    mkdir nothing
    run "$GRIDTIDE" import chakra nothing -o out.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: nothing: "* ]]
}

@test "export says which traces cannot be exported, and leaves nothing behind" {
    mkdir out
    run "$GRIDTIDE" export chakra "$GRIDTIDE_SOURCE/traces/samples/overlap-2-streams.jsonl" -o out/x.et
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: exporting "*"has no measured times"* ]]
    job mlp.ddp
    run "$GRIDTIDE" export chakra job.jsonl -o -
    [ "$status" -eq 1 ]
    [[ "$output" == *"2 ranks"*"-o PREFIX"* ]]
    run "$GRIDTIDE" export chakra job.jsonl -o out/none/x
    [ "$status" -eq 1 ]
    [ -z "$(ls out)" ]

    # A limit that stops the second, larger file when all but its last part is written (ulimit counts 1024 bytes)
    job vgg.ddp
    "$GRIDTIDE" export chakra job.jsonl -o whole
    [ "$(stat -c %s whole.0.et)" -lt $(($(stat -c %s whole.1.et) - 2048)) ]
    run bash -c "ulimit -f $(($(stat -c %s whole.1.et) / 1024 - 1)); '$GRIDTIDE' export chakra job.jsonl -o out/x"
    [ "$status" -eq 1 ]
    [[ "$output" == *"out/x.1.et: cannot write: larger than a file may be"* ]]
    [ -z "$(ls out)" ]
    run "$GRIDTIDE" export chakra job.jsonl -o out/x --stream 7
    [ "$status" -eq 2 ]
    [[ "$output" == *"whole traces"* ]]
}

@test "kernels of operators whose inputs were recorded say their work" {
    "$GRIDTIDE" export chakra "$GRIDTIDE_SOURCE/traces/shapes/fresh/mistral.json.gz" -o mistral.et.gz
    gunzip mistral.et.gz
    python3 - "$data" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
import chakra_et as et
known = [n["a"] for n in et.read("mistral.et")[1] if n["a"].get("num_ops", 0) > 0]
assert len(known) > 100, len(known)
assert all(a["tensor_size"] > 0 for a in known)
END
}
