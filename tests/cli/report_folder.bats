# gridtide report: the folder: what is in it, when it is replaced or refused, what a failure leaves.

load report_helpers

nothing_beside() {
    run find . -name '.gridtide-report-*'
    [ -z "$output" ]
}

@test "a report holds a page and every figure twice, and nothing else" {
    recorded on
    run "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 0 ]
    [ "$output" = "out/index.html" ]
    for figure in timeline sms warps copies errors; do
        [ "$(head -c 5 "out/$figure.svg")" = "<?xml" ]
        [ "$(head -c 4 "out/$figure.png" | tail -c 3)" = "PNG" ]
        [ "$(stat -c %s "out/$figure.png")" -gt 2000 ]
        grep -q "src=\"$figure.svg\"" out/index.html
        grep -q "href=\"$figure.png\"" out/index.html
    done
    [ "$(find out | wc -l)" -eq 12 ]
    nothing_beside
}

@test "the same store gives the same bytes" {
    recorded on
    "$GRIDTIDE" report -q run.db -o one
    "$GRIDTIDE" report -q run.db -o two
    diff -r one two
}

@test "a former report is replaced" {
    recorded
    "$GRIDTIDE" report -q run.db -o out
    written
    "$GRIDTIDE" report -q run.db -o out/
    [ ! -e out/errors.svg ]
    grep -q 'The trace has no recorded times' out/index.html
    nothing_beside
}

@test "an empty folder is filled" {
    written
    mkdir out
    "$GRIDTIDE" report -q run.db -o out
    [ -s out/index.html ]
}

@test "anything else that is there is refused and left alone" {
    written
    mkdir mine
    echo precious > mine/index.html
    run "$GRIDTIDE" report run.db -o mine
    [ "$status" -eq 1 ]
    [[ "$output" == *"mine: exists and is not a Gridtide report"* ]]
    [ "$(cat mine/index.html)" = precious ]

    "$GRIDTIDE" report -q run.db -o out
    echo precious > out/notes.txt
    run "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"notes.txt"* ]]
    [ "$(cat out/notes.txt)" = precious ]

    echo precious > file
    run "$GRIDTIDE" report run.db -o file
    [ "$status" -eq 1 ]
    [ "$(cat file)" = precious ]

    for place in . .. / ''; do
        run "$GRIDTIDE" report run.db -o "$place"
        [ "$status" -eq 1 ]
    done
    run "$GRIDTIDE" report run.db -o no/such/place
    [ "$status" -eq 1 ]
    [[ "$output" == *"the parent folder does not exist"* ]]
    nothing_beside
}

@test "without gnuplot it says what to install and leaves nothing" {
    written
    mkdir empty
    run env PATH="$PWD/empty" "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"install gnuplot-nox"* ]]
    [ ! -e out ]
    nothing_beside
}

@test "a gnuplot that fails is a failure with its own words" {
    written
    mkdir bin
    printf '#!/bin/sh\necho "no such terminal" >&2\nexit 3\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"no such terminal"* ]]
    [ ! -e out ]
    nothing_beside
}

@test "an end by a signal leaves nothing" {
    written
    mkdir bin
    printf '#!/bin/sh\nkill -TERM $PPID\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -ne 0 ]
    [ ! -e out ]
    nothing_beside
}

@test "what a killed report left is swept away, what a living one fills is not" {
    written
    mkdir bin
    printf '#!/bin/sh\nkill -KILL $PPID\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -ne 0 ]
    left=$(echo .gridtide-report-??????)
    [ -d "$left/work" ]
    "$GRIDTIDE" report -q run.db -o young                  # it might still be at work
    [ -d "$left" ]
    touch -d '2 minutes ago' "$left"
    mkdir .gridtide-report-myown1
    echo mine > .gridtide-report-myown1/notes
    touch -d '2 minutes ago' .gridtide-report-myown1
    if command -v flock > /dev/null; then
        mkdir .gridtide-report-living
        exec 9< .gridtide-report-living
        flock 9
        touch -d '2 minutes ago' .gridtide-report-living
    fi
    "$GRIDTIDE" report -q run.db -o out 9<&-
    [ ! -e "$left" ]
    [ -e .gridtide-report-myown1/notes ]
    if command -v flock > /dev/null; then
        [ -d .gridtide-report-living ]
        exec 9<&-
    fi
    "$GRIDTIDE" report -q run.db -o out
    [ ! -e .gridtide-report-living ]
}

@test "what is no store is refused" {
    echo nonsense > bad.db
    run "$GRIDTIDE" report bad.db -o out
    [ "$status" -eq 1 ]
    [ ! -e out ]
    run "$GRIDTIDE" report missing.db -o out
    [ "$status" -eq 1 ]
}

@test "wrong usage" {
    run "$GRIDTIDE" report
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" report run.db
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" report a b -o out
    [ "$status" -eq 2 ]
}
