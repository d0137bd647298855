# Completion of the shells: what is offered is what the program has.

setup()
{
    PATH="$GRIDTIDE_BUILD:$PATH"
}

# offered WORD...: what bash offers for the last word, a line each.
offered()
{
    bash --norc -c '
        . "$GRIDTIDE_SOURCE/sim/completion/gridtide"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _gridtide
        printf "%s\n" "${COMPREPLY[@]}"' - "$@" | sort
}

commands()
{
    gridtide --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

@test "bash offers every command" {
    [ "$(offered gridtide '')" = "$( (commands; echo help) | sort)" ]
    [ "$(offered gridtide help '')" = "$(commands | sort)" ]
    [ "$(offered gridtide exp)" = "$(printf 'explain\nexport')" ]
}

@test "bash offers every option of a command, and each is one" {
    for command in $(commands); do
        [ "$(offered gridtide "$command" --)" = "$(gridtide "$command" --usage | grep -oE -e '--[a-z-]+' | sort -u)" ]
    done
    [ "$(offered gridtide run --str)" = --streams ]
}

@test "bash offers the values of an option" {
    [ "$(offered gridtide run --device a1)" = a100 ]
    [ "$(offered gridtide run --device = '')" = "$(gridtide devices -f csv | sed '1d; s/,.*//' | sort)" ]
    [ "$(offered gridtide run --set chip.sms)" = chip.sms= ]
    [ "$(offered gridtide run --blocks '')" = "$(printf 'off\non')" ]
    [ "$(offered gridtide run --cost = p)" = program ]
    [ "$(offered gridtide stats --run '')" = "$(printf 'measured\nsimulated')" ]
    [ "$(offered gridtide stats -f '')" = "$(printf 'csv\njson\ntable')" ]
    [ "$(offered gridtide export --table op_w)" = op_worst ]
    [ -z "$(offered gridtide stats --table op_w)" ]
    [ "$(offered gridtide run --table = '')" = "$(printf 'assumptions\ncycles\ninterval\nkernels\nrun')" ]
    [ "$(offered gridtide export '')" = "$(printf 'accelsim\nchakra\ncsv\ncsv-ranges\nperfetto')" ]
}

@test "bash leaves files to itself" {
    [ -z "$(offered gridtide run trace.js)" ]
    [ -z "$(offered gridtide run --output x)" ]
}

@test "zsh takes its file" {
    command -v zsh > /dev/null || skip "zsh is not installed"
    zsh -n "$GRIDTIDE_SOURCE/sim/completion/_gridtide"
}
