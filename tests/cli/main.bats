# The program itself: help, version, wrong usage.

@test "--help lists the commands and succeeds" {
    run "$GRIDTIDE" --help
    [ "$status" -eq 0 ]
    [[ "$output" == "Usage: gridtide COMMAND"* ]]
    [[ "$output" == *"Exit status: 0 success, 1 failure, 2 incorrect usage."* ]]
}

@test "--version names the program and its version" {
    run "$GRIDTIDE" --version
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^[Gg]ridtide\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "no command is wrong usage; help goes to standard output, as git's does" {
    run bash -c '"$GRIDTIDE" 2> /dev/null'
    [ "$status" -eq 2 ]
    [[ "$output" == "Usage: gridtide"* ]]
    run bash -c '"$GRIDTIDE" 2>&1 > /dev/null'
    [ -z "$output" ]
}

@test "-h, --help and help are the same, and go to standard output" {
    wanted=$("$GRIDTIDE" --help)
    for word in -h --help help 'help help'; do
        run bash -c '"$GRIDTIDE" $1 2> /dev/null' - "$word"
        [ "$status" -eq 0 ]
        [ "$output" = "$wanted" ]
    done
}

@test "help COMMAND, COMMAND -h and COMMAND --help are the same" {
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        wanted=$("$GRIDTIDE" "$command" --help)
        for words in "help $command" "$command -h" "$command -q -h" "$command FILE -h"; do
            [[ "$words" != *-q* || "$wanted" == *--quiet* ]] || continue
            [[ "$words" != "record FILE"* ]] || continue # what is behind the program is its own
            run bash -c '"$GRIDTIDE" $1 2> /dev/null' - "$words"
            [ "$status" -eq 0 ]
            [ "$output" = "$wanted" ]
        done
    done
}

@test "an unknown command is wrong usage, and the most similar one is named" {
    run bash -c '"$GRIDTIDE" rnu 2> /dev/null'
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    for words in rnu 'help rnu'; do
        run "$GRIDTIDE" $words
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "gridtide: 'rnu' is not a gridtide command. See 'gridtide --help'." ]
        [ "${lines[1]}" = "The most similar command is run" ]
    done
    run "$GRIDTIDE" re
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    run "$GRIDTIDE" exp
    [ "${lines[1]}" = "The most similar commands are explain, export" ]
    run "$GRIDTIDE" frobnicate
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "an unknown option is wrong usage, and the most similar one is named" {
    run "$GRIDTIDE" --hlep run
    [ "$status" -eq 2 ]
    [[ "$output" == *"'--hlep' before the command"* ]]
    run "$GRIDTIDE" run --strems=2 no-such-file.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gridtide run: unknown option --strems; the most similar option is --streams. See 'gridtide run --help'." ]
    run "$GRIDTIDE" run no-such-file.jsonl --devcie h200
    [[ "$output" == *"the most similar option is --device."* ]]
    run "$GRIDTIDE" run --frobnicate no-such-file.jsonl
    [ "$output" = "gridtide run: unknown option --frobnicate. See 'gridtide run --help'." ]
}

@test "what only looks like an option is none: a value, or a file after --" {
    run "$GRIDTIDE" run -o --strems no-such-file.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"no-such-file.jsonl"* ]]
    run "$GRIDTIDE" run -- --strems
    [ "$status" -eq 1 ]
    run "$GRIDTIDE" run --stre=2 no-such-file.jsonl
    [ "$status" -eq 1 ]
    run "$GRIDTIDE" run --s=2 no-such-file.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"ambiguous"* ]]
}

@test "a full disk on standard output is a failure" {
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c '"$GRIDTIDE" --help > /dev/full'
    [ "$status" -eq 1 ]
    [[ "$output" == *"standard output"* ]]
}

@test "every command has --help and --version" {
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        run "$GRIDTIDE" "$command" --help
        [ "$status" -eq 0 ]
        [[ "$output" == *"Usage: gridtide $command"* ]]
        run "$GRIDTIDE" "$command" --version
        [ "$status" -eq 0 ]
    done
}

@test "every command refuses an unknown option with exit status 2" {
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        run "$GRIDTIDE" "$command" --no-such-option
        [ "$status" -eq 2 ]
    done
}
