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

@test "gridtide-whatif(1) describes every change that the program lists" {
    cd "$BATS_TEST_TMPDIR"
    "$GRIDTIDE" whatif --help | sed -n '/^Changes (SPEC)/,/^$/s/^  \([a-z-]*\).*/\1/p' > changes
    [ "$(wc -l < changes)" -ge 17 ]
    sed -n '/^\.SH CHANGES/,/^\.SH [^C]/p' "$pages/gridtide-whatif.1" | grep -A1 '^\.TP' | sed 's/\\-/-/g' > described
    while read -r change; do
        grep -Eq "^\.B[IR]? $change\b" described || { echo "not in the page: $change"; return 1; }
    done < <(grep . changes)
}

@test "the pages are clean to the formatter" {
    command -v groff > /dev/null || skip "groff is not installed"
    for file in "$pages"/*.[157]; do
        run groff -man -Tutf8 -ww -z "$file"
        echo "$file: $output"
        [ -z "$output" ]
    done
}

@test "gridtide-store(5) names every table and view, and its ten queries run" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    cd "$BATS_TEST_TMPDIR"
    trace=$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz
    "$GRIDTIDE" whatif -q "$trace" --change connections=8 -o run.db > answer
    "$GRIDTIDE" sweep -q "$trace" --over connections=8 -o sweep.db > points
    for store in run.db sweep.db; do
        for name in $(sqlite3 "$store" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"); do
            grep -qx ".B $name" "$pages/gridtide-store.5" || { echo "not in the page: $name"; return 1; }
        done
    done
    awk '/^\.nf$/ { on = 1; next } /^\.fi$/ { on = 0 } on' "$pages/gridtide-store.5" > queries
    [ "$(grep -c ';$' queries)" -eq 10 ]
    sqlite3 -bail run.db < queries > rows
    grep -q connections=8 rows
}
