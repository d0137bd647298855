#!/bin/sh
# `gridtide run` on typed traces of 10^5 operations (or of GRIDTIDE_OPERATIONS) of five kinds: seconds of processor time,
# median of GRIDTIDE_TIMES (5).  GRIDTIDE names the program: another one's figures come the same way.
bench=$GRIDTIDE_BUILD/tests/bench
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
operations=${GRIDTIDE_OPERATIONS:-100000}
times=${GRIDTIDE_TIMES:-5}

# trace STREAMS PERCENT OF COPIES AND MEMSETS GRIDS...: what a loop puts into the streams in turn.
trace() {
    awk -v operations="$operations" -v streams="$1" -v others="$2" -v grids="$3" '
        function random(below) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * below) }
        BEGIN {
            state = 1
            print "{\"gridtide\":1,\"device\":\"h200\"}"
            kernels = split(grids, grid, " ")
            for (k = 1; k <= kernels; k++)
                printf "{\"kernel\":\"k%d\",\"grid\":%d,\"block\":256,\"registers\":32,\"block_us\":%d}\n", k, grid[k], 2 + 2 * k
            split("65536 1048576 4194304 16777216", bytes, " ")
            for (i = 0; i < operations; i++) {
                stream = i % streams
                size = bytes[1 + random(4)]
                if (random(100) >= others)
                    printf "{\"call\":\"launch\",\"kernel\":\"k%d\",\"stream\":\"s%d\"}\n", 1 + random(kernels), stream
                else if (random(2))
                    printf "{\"call\":\"memset\",\"bytes\":%d,\"stream\":\"s%d\"}\n", size, stream
                else
                    printf "{\"call\":\"copy\",\"direction\":\"d2d\",\"bytes\":%d,\"stream\":\"s%d\"}\n", size, stream
            }
        }'
}

# Graphs of 20 nodes: two chains that meet.
graphs() {
    awk -v operations="$operations" 'BEGIN {
        print "{\"gridtide\":1,\"device\":\"h200\"}"
        for (k = 1; k <= 4; k++)
            printf "{\"kernel\":\"k%d\",\"grid\":%d,\"block\":256,\"registers\":32,\"block_us\":%d}\n", k, 33 * k, 2 + 2 * k
        nodes = "{\"kernel\":\"k1\"},{\"kernel\":\"k2\"}"
        for (n = 2; n < 19; n++)
            nodes = nodes sprintf(",{\"kernel\":\"k%d\",\"after\":[%d]}", 1 + n % 4, n - 2)
        nodes = nodes ",{\"kernel\":\"k1\",\"after\":[17,18]}"
        for (i = 0; i < operations / 20; i++)
            printf "{\"call\":\"graph_launch\",\"stream\":\"s%d\",\"nodes\":[%s]}\n", i % 2, nodes
    }'
}

measure() {
    for _ in $(seq "$times"); do
        "$bench/timeline_bench" time "$1" "$GRIDTIDE" run -q "$folder/trace.jsonl" -o "$folder/run.db" > "$folder/lines" || exit 1
        sed -n '$p' "$folder/lines"
        rm -f "$folder/run.db"
    done | sort > "$folder/sorted"
    sed -n "$((times / 2 + 1))p" "$folder/sorted"
}

trace 4 0 "20 132 264" > "$folder/trace.jsonl"
measure "kernels"
trace 8 0 "20 132 264" > "$folder/trace.jsonl"
measure "kernels, 8 streams"
trace 4 40 "132 264 1000 2000" > "$folder/trace.jsonl"
measure "40% memsets and copies"
trace 4 100 "1" > "$folder/trace.jsonl"
measure "memsets and copies only"
graphs > "$folder/trace.jsonl"
measure "graphs"
