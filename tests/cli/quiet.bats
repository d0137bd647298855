# -q means one thing everywhere: no progress, notes or warnings; the answer of a command that answers stays, a table
# about what went into a file does not, unless --format asks for it.

bats_require_minimum_version 1.5.0

setup()
{
    cd "$BATS_TEST_TMPDIR"
    # two ranges of times for which `run` and `import` have something to say beside the result
    cat > noisy.jsonl <<'END'
{"gridtide":1,"device":"h200","warnings":[{"kind":"event-waits-unknown","count":3,"text":"waits for events that are not known"}]}
{"kernel":"k","grid":8,"block":128,"block_us":[8,12]}
{"buffer":"b","bytes":1024}
{"call":"launch","kernel":"k","stream":"s","writes":["b"],"threads":2}
{"call":"launch","kernel":"k","stream":"t","reads":["b"]}
{"call":"device_sync"}
END
}

commands()
{
    "$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

# What a command's help says of -q, in one line.
meaning()
{
    "$GRIDTIDE" "$1" --help | tr -s ' \n' ' ' |
        grep -o -- '-q, --quiet [A-Z][^-]*' | sed 's/-q, --quiet //; s/ *$//'
}

@test "the help of every command says one of three things of -q" {
    for command in $(commands); do
        "$GRIDTIDE" "$command" --help | grep -q -- --quiet || continue
        case $command in
            whatif | sweep | check | explain | serve | batch) wanted='Print only the result: no progress, notes or warnings' ;;
            run | validate | calibrate) wanted='Print only errors and the requested output' ;;
            *) wanted='Print only errors' ;;
        esac
        echo "$command: $(meaning "$command")"
        [ "$(meaning "$command")" = "$wanted" ]
    done
}

@test "commands that write a file print nothing" {
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
    for words in 'import -q noisy.jsonl -o kept.jsonl' 'run -q noisy.jsonl -o run.db' 'report -q run.db -o page'; do
        run --separate-stderr "$GRIDTIDE" $words
        echo "$words: $status, $output, $stderr"
        [ "$status" -eq 0 ]
        [ -z "$output" ]
        [ -z "$stderr" ]
    done
    "$GRIDTIDE" run noisy.jsonl -o run.db 2> notes > table # and there is something to say
    [ -s notes ]
    [ -s table ]
}

@test "commands that answer print the answer alone, and the same as without -q" {
    for words in 'check noisy.jsonl' 'check noisy.jsonl -f json' 'explain noisy.jsonl' 'explain noisy.jsonl -f json' 'whatif noisy.jsonl --change launch-cost=9' \
                 'whatif noisy.jsonl --change launch-cost=9 -o answer.db' \
                 'sweep noisy.jsonl --over launch-cost=3,4 -j 1 -o sweep.db' \
                 'sweep noisy.jsonl --over launch-cost=3,4 -j 1 -o sweep.db -f csv'; do
        rm -f answer.db sweep.db
        "$GRIDTIDE" $words > aloud 2> notes || [ "$?" -eq 1 ]
        rm -f answer.db sweep.db
        "$GRIDTIDE" $words -q > quietly 2> quiet-notes || [ "$?" -eq 1 ]
        echo "$words"
        [[ "$words" == sweep* || -s notes ]] # a sweep has none
        [ ! -s quiet-notes ]
        [ -s quietly ]
        cmp aloud quietly
    done
}

@test "validate prints what --format asks for" {
    command -v zstd > /dev/null || skip "zstd is not installed"
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-1122.db.zst" -o measured.db
    over=(validate -q --random 1 --draw-seed 1122 --repeat 2 --measured measured.db --blocks off)
    run --separate-stderr "$GRIDTIDE" "${over[@]}" -o now.db
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    for format in table csv json; do
        run --separate-stderr "$GRIDTIDE" "${over[@]}" -f "$format" -o "$format.db"
        [ "$status" -eq 0 ]
        [ -n "$output" ]
        [ -z "$stderr" ]
    done
}
