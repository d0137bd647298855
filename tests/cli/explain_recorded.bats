#!/usr/bin/env bats
# gridtide explain on programs that were recorded for it (traces/pairs, explain*): kernels and copies that did not overlap,
# each for the reason that its name says. What a profile does not say cannot be found, and is named here.

setup() {
    command -v jq > /dev/null || skip "no jq"
    cd "$BATS_TEST_TMPDIR"
}

# A recording, with what else `run` is told; as JSON in $output.
explained() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/pairs/$1.json.gz" -o run.db "${@:2}" 2> /dev/null
    run bash -c "'$GRIDTIDE' explain --format json run.db 2> /dev/null"
    [ "$status" -eq 0 ]
}

holds() {
    jq -e "$1" <<< "$output" > /dev/null || { jq -c '.findings[], .pairs[], .copies[]' <<< "$output"; return 1; }
}

@test "explain, recorded: kernels of two streams one after the other: what an SM lacked" {
    for lack in "threads:threads" "shared:shared memory" "blocks:block slots"; do
        explained "explain.sm-${lack%%:*}"
        holds '.pairs | any(.why == "resource" and .room == "no: no SM has free '"${lack##*:}"'" and .lost_us > 100)'
        holds '.findings | any(.finding == "full" and (.what | endswith("not enough free '"${lack##*:}"'")))'
    done
}

@test "explain, recorded: an event, or the default stream, came between kernels that had room" {
    explained explain.event
    holds '.pairs | any(.why == "event" and (.room | startswith("yes")) and .lost_us > 100)'
    holds '.findings | any(.finding == "no-overlap" and (.what | endswith(": event")))'
    explained explain.default-stream
    holds '[.pairs[] | select(.why == "default-stream" and (.room | startswith("yes")))] | length >= 2'
    holds '.findings | any(.finding == "no-overlap" and (.what | endswith(": default-stream")))'
}

@test "explain, recorded: kernels that do overlap are not said to be kept from it by another stream" {
    explained explain.nothing
    holds '[.pairs[].why] | unique == ["stream"]'
}

@test "explain, recorded: copies that overlap with nothing, and why" {
    for reason in pageable:pageable same-stream:one-stream default-stream:default-stream; do
        explained "explain.copy-${reason%%:*}"
        holds '.copies | length == 1 and .[0].copies == 2 and .[0].why == "'"${reason##*:}"'"'
        holds '.findings | any(.finding == "copies")'
    done
    explained explain.copies-one-engine
    holds '.copies | any(.why == "engine" and .alone_us > 100)'
    explained explain.copies-both-ways # beside each other, with no kernel to run
    holds '.copies | length == 2 and all(.why == "nothing-to-run")'
}

# The profile does not say how many connections there were: the replay departs, and says with how many it would not.
@test "explain, recorded: CUDA_DEVICE_MAX_CONNECTIONS=1" {
    run "$GRIDTIDE" run "$GRIDTIDE_SOURCE/traces/pairs/explain-connection-1.run.json.gz" -o run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"CUDA_DEVICE_MAX_CONNECTIONS=1 would remove the difference: try --set scheduling.connections=1"* ]]
    explained explain-connection-1.run --set scheduling.connections=1
    holds '.findings | any(.finding == "connections" and .about_us > 100 and (.ask | endswith("connections=32")))'
    holds '.findings | any(.finding == "no-overlap" and (.what | endswith(": queue")))'
    explained explain.connection # the same with eight
    holds '.findings | all(.finding != "connections")'
}

# The profile says how long a call took, not that it waited: 1,100 launches stand before the pinned copy, which itself is
# asked for when the queue has room again.
@test "explain, recorded: calls that do not synchronise are kept by a full queue" {
    explained explain.full-queue
    holds '.blocked_calls | any(.call == "cudaLaunchKernel" and .why == "queue-full" and .times == 2 and .blocked_us > 5000)'
    holds '.findings | any(.finding == "queue-full")'
    explained many-deep-8.run # many launches, none of which waits
    holds '.blocked_calls | all(.why != "queue-full")'
}

# Of CUDA 13.0 Kineto says no priorities and no clusters: what is left to see is the room that the urgent kernel waited for,
# and that the priorities are not known.
@test "explain, recorded: a late priority is seen as waiting for room" {
    explained explain.late-priority
    holds '.pairs | any(.why == "resource" and (.kernel | startswith("urgent_link")) and .waited_for == "first_kernel")'
    holds '.findings | any(.finding == "full")'
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    [ "$(sqlite3 run.db "select count(*) from warning where kind = 'priorities-unknown'")" = 1 ]
}

@test "explain, recorded: branches of a graph that gain are not said to lose" {
    for graph in graph-narrow graph-wide graph-tiny; do
        explained "$graph.streams-4"
        holds '.findings | all(.finding != "graph-branches")'
    done
}
