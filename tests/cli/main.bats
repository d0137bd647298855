# The program itself: help, version, wrong usage.

@test "--help lists the commands and succeeds" {
    run "$GRIDTIDE" --help
    [ "$status" -eq 0 ]
    [[ "$output" == "Usage: gridtide COMMAND"* ]]
    [[ "$output" == *"Exit status: 0 done, 1 the work failed, 2 wrong usage."* ]]
}

@test "--version names the program and its version" {
    run "$GRIDTIDE" --version
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^[Gg]ridtide\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "no command is wrong usage, help goes to standard error" {
    run bash -c '"$GRIDTIDE" 2> /dev/null'
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    run bash -c '"$GRIDTIDE" 2>&1 > /dev/null'
    [[ "$output" == "Usage: gridtide"* ]]
}

@test "an unknown command is wrong usage and is named" {
    run "$GRIDTIDE" frobnicate
    [ "$status" -eq 2 ]
    [[ "$output" == *"no command 'frobnicate'; commands are:"* ]]
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
