# Programs that each use one feature of CUDA, recorded on H200s: what the recordings must hold of it.

bats_require_minimum_version 1.5.0

folder="$GRIDTIDE_SOURCE/traces/recorded_features"

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# lines NAME PATTERN: the lines of a recording that match.
lines_of()
{
    zcat "$folder/$1.jsonl.gz" | grep -E "$2"
}

count()
{
    zcat "$folder/$1.jsonl.gz" | grep -cE "$2"
}

no_warnings()
{
    ! zcat "$folder/$1.jsonl.gz" | head -n 1 | grep -q '"warnings"'
}

@test "calls have the names that people know" {
    for file in "$folder"/*.jsonl.gz; do
        ! zcat "$file" | grep -qE '"name":"_*cu[A-Za-z0-9_]*(_v[0-9]+|_ptsz|_ptds)"'
        ! zcat "$file" | grep -q '"name":"__'
    done
    [ "$(count driver '"name":"cuLaunchKernelEx"')" = 1 ]
}

@test "recording is switched by a signal: 5 and 7 kernels of 21" {
    no_warnings signal
    [ "$(count signal '"call":"launch"')" = 12 ]
}

@test "NVTX: plain, wide, registered, in domains, across threads; the thread's name" {
    no_warnings nvtx
    for name in plain größer "Schritt №2 🌊" "loader:batch" "größe:Schritt №2 🌊" "across threads"; do
        [ "$(lines_of nvtx '"range"' | grep -cF "\"$name\"")" = 1 ]
    done
    [ "$(count nvtx '^\{"thread":"the main one"')" = 1 ]
}

@test "copies and memsets of rows, slices, arrays and symbols say what they touch" {
    no_warnings copies
    [ "$(count copies '"call":"(copy|memset)"')" = 12 ]
    [ "$(lines_of copies '"call":"copy"' | grep -cE '"(reads|source)".*"(writes|destination)"|"(writes|destination)".*"(reads|source)"')" = 9 ]
    [ "$(lines_of copies '"call":"memset"' | grep -c '"writes"')" = 3 ]
    [ "$(lines_of copies 'cudaMemcpy2DArrayToArray' | grep -cE '"reads":\["array 0x[0-9a-f]+"\],"writes":\["array 0x')" = 1 ]
    [ "$(lines_of copies 'cudaMemcpy2DAsync' | grep -oE '"0x[0-9a-f]+",[0-9]+,1024' | wc -l)" = 64 ] # rows with gaps
    [ "$(lines_of batch 'cudaMemcpyBatchAsync' | grep -oE '"0x[0-9a-f]+",[0-9]+,[0-9]+' | wc -l)" = 6 ]
}

@test "gridtide check of recordings: races are told, rows beside each other are none, uncertain pointers are possible" {
    zcat "$folder/race.jsonl.gz" > race.jsonl
    run -1 --separate-stderr "$GRIDTIDE" check race.jsonl
    [[ $output == *"2 races;"* ]]
    [ "$(grep -c 'write-after-write' <<< "$output")" = 2 ]
    zcat "$folder/pointers.jsonl.gz" > pointers.jsonl
    run -0 --separate-stderr "$GRIDTIDE" check pointers.jsonl
    [[ $output == *possible* ]]
    zcat "$folder/copies.jsonl.gz" > copies.jsonl
    run -1 --separate-stderr "$GRIDTIDE" check copies.jsonl
    [[ $output == *"of array 0x"* ]]
}

@test "a launch's own priority is recorded, and simulated" {
    no_warnings launch-priorities
    [ "$(count launch-priorities '"priority":-5')" = 3 ]
}

@test "a graph's nodes have their priorities only where it was instantiated so" {
    no_warnings graph-priorities
    [ "$(lines_of graph-priorities '"call":"graph_launch"' | grep -c '"priority":-5')" = 3 ]
}

@test "nodes of each kind; edges go through those that leave nothing" {
    no_warnings graph-nodes
    [ "$(count graph-nodes '"call":"graph_launch"')" = 3 ]
    run lines_of graph-nodes '"call":"graph_launch"'
    for line in "${lines[@]}"; do
        [ "$(grep -o '"kind":"' <<< "$line" | wc -l)" = 6 ]
        [[ $line == *'"kind":"host_function"'* ]]
        [[ $line == *'"kind":"memset"'*'"kind":"kernel"'*'"kind":"copy"'* ]]
    done
}

@test "executable graphs that change: kernels have the memory that they were given last" {
    no_warnings graph-updates
    run lines_of graph-updates '"call":"graph_launch"'
    [ "${#lines[@]}" = 6 ]
    for i in 0 2 4; do
        given=$(grep -oE '"writes":\["0x[0-9a-f]+"' <<< "${lines[$i]}" | tr '\n' ' ')
        [ "$given" = "$(grep -oE '"writes":\["0x[0-9a-f]+"' <<< "${lines[$((i + 1))]}" | tr '\n' ' ')" ]
        echo "$given" >> given
    done
    [ "$(sort -u given | wc -l)" = 3 ] # a and b; a and c; c and a
    [ "$(sed -n 2p given)" = "$(sed -n 3p given | awk '{ print $2, $1, "" }')" ]
}

@test "conditional nodes: bodies belong to their launches, and are counted" {
    for name in if while switch; do
        zcat "$folder/graph-$name.jsonl.gz" | head -n 1 | grep -q '"kind":"graph-conditions"'
        ! zcat "$folder/graph-$name.jsonl.gz" | head -n 1 | grep -q '"kind":"calls-missing"'
    done
    run lines_of graph-while '"call":"graph_launch"'
    [ "$(grep -o '"kind":"kernel"' <<< "${lines[0]}" | wc -l)" = 8 ] # one, three rounds of two, one
}

@test "capture on one thread of what another launches" {
    no_warnings capture-threads
    [ "$(count capture-threads '"call":"graph_launch".*"kind":"kernel".*"kind":"kernel".*"after":\[0\]')" = 3 ]
    [ "$(count capture-threads '"call":"launch"')" = 1 ]
}

@test "the driver's functions" {
    no_warnings driver
    [ "$(count driver '"cooperative":true')" = 1 ]
    [ "$(count driver '"priority":-1')" = 1 ]
    [ "$(count driver '"call":"event_wait","name":"cuStreamWaitEvent"')" = 1 ]
}

@test "copies between GPUs are in the stream that the program put them into" {
    no_warnings peers
    stream=$(lines_of peers '"call":"launch"' | grep -o '"stream":[0-9]*')
    lines_of peers 'cudaMemcpyPeerAsync' | head -n 1 | grep -q "$stream,.*\"from_peer\":true.*\"reads\".*\"writes\""
    zcat "$folder/peers.jsonl.gz" > peers.jsonl
    run -0 --separate-stderr "$GRIDTIDE" check peers.jsonl
    [[ $output == *"no races"* ]]
}

@test "an event of another process is the same event" {
    no_warnings ipc
    event=$(lines_of ipc '"call":"event_record"' | grep -o '"event":[0-9]*')
    [ "$(count ipc "\"call\":\"event_wait\".*$event,")" = 1 ]
}

@test "a green context's work is in its stream, and told" {
    zcat "$folder/green.jsonl.gz" | head -n 1 | grep -q '"kind":"green-contexts"'
    stream=$(lines_of green '"call":"stream_sync"' | grep -o '"stream":[0-9]*')
    [ "$(count green "\"call\":\"launch\".*$stream,")" = 3 ]
}
