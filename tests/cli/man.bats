# The manual: a page a command, and every option of --help in it.

pages="$GRIDTIDE_SOURCE/sim/man"

commands()
{
    "$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

# page NAME: its text with hyphens as typed and without fonts.
page()
{
    sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/^\.[BI]R\{0,1\} //' "$pages/$1.1"
}

@test "gridtide(1) names every command" {
    for command in $(commands); do
        page gridtide | grep -qx "$command"
        page gridtide | grep -q "gridtide-$command (1)"
    done
}

@test "every option that --help names is in the command's page" {
    missing=
    for command in $(commands); do
        [ -f "$pages/gridtide-$command.1" ]
        for option in $("$GRIDTIDE" "$command" --help | grep -oE '^ +(-., )?--[a-z-]+|^  +-.,? ' |
                        tr ', ' '\n\n' | sort -u); do
            page "gridtide-$command" | grep -qF -e "$option" || missing="$missing $command:$option"
        done
    done
    echo "not in the manual:$missing"
    [ -z "$missing" ]
}

@test "no page has an option that --help does not name" {
    extra=
    for command in $(commands); do
        help=$("$GRIDTIDE" "$command" --help)
        for option in $(page "gridtide-$command" | sed -n '/^.SH OPTIONS/,/^.SH EXIT/p' |
                        grep -oE '(^|[^a-z-])--[a-z]+(-[a-z]+)*' | grep -oE -e '--.*' | sort -u); do
            grep -qF -e "$option" <<< "$help" || extra="$extra $command:$option"
        done
    done
    echo "only in the manual:$extra"
    [ -z "$extra" ]
}

@test "the pages are clean to the formatter" {
    command -v groff > /dev/null || skip "groff is not installed"
    for file in "$pages"/*.[17]; do
        run groff -man -Tutf8 -ww -z "$file"
        echo "$file: $output"
        [ -z "$output" ]
    done
}
