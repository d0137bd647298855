#!/bin/sh
# Every reader against damaged files: all truncations of a sample, but those deep inside padding, and
# FUZZ_COUNT seeded mutations of it (2000 in `make check`, 100000 in `make fuzz`).
count=${FUZZ_COUNT-2000}
first=${FUZZ_FIRST-0}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
tests=0

# Huge allocations must fail as on a small machine, not end the program.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export ASAN_OPTIONS

# one NAME READER SAMPLE HOW...
one()
{
    tests=$((tests + 1))
    name=$1
    shift
    if "$GRIDTIDE_BUILD/tests/fuzz/fuzz" "$@" > out 2>&1; then
        echo "ok $tests - $name"
        grep '^#' out
    else
        echo "not ok $tests - $name"
        tail -n 40 out | sed 's/^/# /'
        for input in fuzz-*.input; do
            [ ! -f "$input" ] || mv "$input" "$GRIDTIDE_BUILD/tests/fuzz/$tests-$input"
        done
        echo "# the input is in $GRIDTIDE_BUILD/tests/fuzz/"
    fi
}

# both READER SAMPLE
both()
{
    one "$1: every truncation of $(basename "$2")" "$1" "$2" truncations
    one "$1: $count mutations of $(basename "$2")" "$1" "$2" mutations "$first" "$count"
}

samples=$GRIDTIDE_SOURCE/tests/fuzz/samples
both input "$samples/text.gz"
both input "$samples/text.zst"
both input "$samples/text.xz"
both trace "$samples/trace.jsonl"
both simulate "$samples/trace.jsonl"
both trace "$samples/tasks.jsonl"
both simulate "$samples/tasks.jsonl"
both tasks "$samples/ir.json"
both tasks "$samples/task_graph.json"
both kineto "$samples/kineto.json"
both ranks "$samples/ranks.json"
both nsys "$samples/nsys.sql"
both accelsim "$samples/kernel.traceg"
both tracez "$samples/kernel.tracez"
both accelsim "$samples/kernelslist.g"
both record "$samples/record.gtrecord.gz"
both chakra "$samples/chakra.et"
both chakra "$samples/chakra_recorded.et"
both nsys "$GRIDTIDE_SOURCE/tests/data/nsys-3.24.sql"
both rocpd "$GRIDTIDE_SOURCE/tests/data/rocpd.sql"
both rpd "$GRIDTIDE_SOURCE/tests/data/rpd.sql"
both xplane "$samples/step.xplane.pb"
both slices "$samples/slices.pftrace"
both slices "$samples/proton.json"
echo "1..$tests"
