# gridtide schedule: operator graphs, and what is written of them.

setup()
{
    command -v jq > /dev/null || skip "no jq"
    cd "$BATS_TEST_TMPDIR"
    cat > diamond.jsonl << 'END'
{"operator_graph":1,"name":"diamond","device":"toy"}
// A product in small tasks, or in larger ones.
{"kind":"product","implementations":[{"name":"fast","tasks":8,"task_us":2},{"name":"thrifty","tasks":2,"on":{"toy":{"task_us":5},"v100":{"task_us":9}}}]}
{"operator":"d","implementations":[{"tasks":1,"task_us":1}],"after":["b","c"]}
{"operator":"a","kind":"product"}
{"operator":"b","kind":"product","after":["a"]}
{"operator":"c","kind":"product","after":["a","a"]}
END
}

# told FIELD [OPTION...]: one number of what `gridtide schedule` says of the diamond.
told()
{
    "$GRIDTIDE" schedule diamond.jsonl --format json "${@:2}" | jq -r ".schedule.$1"
}

# Four workers: a fast, two rounds of 2 us, ends at 4 (thrifty: 5); b and c thrifty, all four tasks at once, end at 9
# (fast: four rounds, 12); d at 10.
@test "schedule says what the plan is" {
    [ "$(told planned_us --workers 4)" = 10 ]
    [ "$(told critical_path_us --workers 4)" = 8 ]
    [ "$(told work_us --workers 4)" = 37 ]
    [ "$(told tasks --workers 4)" = 13 ]
    [ "$(told counters --workers 4)" = 2 ]
    [ "$(told planned_us --workers 4 --policy round-robin)" = 13 ]
    [ "$(told planned_us --workers 4 --policy list)" = 11 ] # thrifty in both full waves
    [ "$(told workers)" = "$("$GRIDTIDE" devices toy -f csv | sed -n 's/^chip.sms,\([0-9]*\),.*/\1/p')" ]
    # Launches on two workers: thriftiest ones are fastest here, 5 us against four rounds of 2, but not at 9 us.
    [ "$(told work_us --workers 2 --as stream)" = 31 ]
    [ "$(told work_us --workers 2 --as stream --device v100)" = 49 ]
}

@test "schedule writes a trace that can be run, the same bytes each time" {
    for form in rprogram stream streams graph; do
        "$GRIDTIDE" schedule diamond.jsonl --as $form -o $form.jsonl > /dev/null
        "$GRIDTIDE" schedule diamond.jsonl --as $form -o - 2> /dev/null | cmp - $form.jsonl
        "$GRIDTIDE" run -q $form.jsonl -o $form.db
    done
    [ "$(grep -c '"call":"launch"' stream.jsonl)" = 4 ]
    [ "$(grep -c '"call":"event_wait"' streams.jsonl)" -gt 0 ]
    [ "$(grep -c '"call":"graph_launch"' graph.jsonl)" = 1 ]
    grep -q '"policy":"static"' rprogram.jsonl
    [ "$(grep -c '"source"' stream.jsonl)" = 0 ] # as typed: it is played by kernels that spin
}

@test "schedule names what is wrong with a graph" {
    wrong()
    {
        printf '%s\n' '{"operator_graph":1,"device":"toy"}' "$2" > wrong.jsonl
        run "$GRIDTIDE" schedule wrong.jsonl
        echo "$output"
        [ "$status" -eq 1 ]
        [[ $output == "gridtide: wrong.jsonl"*"$1"* ]]
    }
    wrong "there are no operators" ''
    wrong ":2: there is no kind 'k' above" '{"operator":"a","kind":"k"}'
    wrong ":2: what does a task take on 'toy'?" '{"operator":"a","implementations":[{"tasks":3}]}'
    wrong ":2: \"tasks\" must be from 1" '{"operator":"a","implementations":[{"tasks":0,"task_us":1}]}'
    wrong ":2: there is no operator 'b' for 'a' to come after" '{"operator":"a","implementations":[{"task_us":1}],"after":["b"]}'
    wrong ":2: operator 'a' comes after itself" '{"operator":"a","implementations":[{"task_us":1}],"after":["a"]}'
    wrong ":2: an operator has either" '{"operator":"a"}'
    wrong ":2: nothing known" '{"opera":"a"}'
    wrong "implementation" '{"operator":"a","implementation":[{"task_us":1}]}'
    wrong "more than 53 days" '{"operator":"a","implementations":[{"tasks":100000,"task_s":1000}]}'
    echo '{"gridtide":1}' > trace.jsonl
    run "$GRIDTIDE" schedule trace.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"not an operator graph"* ]]
}

@test "schedule refuses what it does not know" {
    run "$GRIDTIDE" schedule diamond.jsonl --policy best
    [ "$status" -eq 1 ]
    [[ $output == *"no policy 'best'; there are: wavefront"* ]]
    echo '{"operator":"z","implementations":[{"task_us":1,"registers":1000}]}' >> diamond.jsonl
    run "$GRIDTIDE" schedule diamond.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"tasks of 'z': "* ]]
    run "$GRIDTIDE" schedule diamond.jsonl --as soup
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" schedule diamond.jsonl --barriers some
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" schedule
    [ "$status" -eq 2 ]
}

@test "the six networks are operator graphs, and the script holds them against the paper" {
    command -v python3 > /dev/null || skip "no python3"
    for network in lstm:9000:218 seq2seq:8280:454 resnext:320:48 nasnet:625:153 alexnet:11:11 deepspeech2:9453:315; do
        IFS=: read -r name operators waves <<< "$network"
        python3 "$GRIDTIDE_SOURCE/traces/networks/networks.py" "$name" > graph.jsonl
        run bash -c '"$GRIDTIDE" schedule graph.jsonl --as graph -f json | jq -c "[.schedule.operators, .schedule.waves]"'
        [ "$output" = "[$operators,$waves]" ]
    done
    python3 "$GRIDTIDE_SOURCE/traces/networks/networks.py" --real seq2seq |
        "$GRIDTIDE" schedule - -o real.jsonl > /dev/null
    grep -q '"runs":"product","arguments":{"rows":8,"columns":128}' real.jsonl
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    run "$GRIDTIDE_SOURCE/validate/scripts/rammer.sh" alexnet
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^form alexnet ' <<< "$output")" = 5 ]
    grep -qE '^beside alexnet speed-up [0-9.]+ 1.00$' <<< "$output"
}

# Operators with buffers: these begin 64 floats apart, in any form.
@test "operators that say what they read and write are played for real, as tasks and as launches" {
    cat > real.jsonl <<'END'
{"operator_graph":1,"device":"toy","block":64}
{"kind":"p","implementations":[{"tasks":2,"task_us":1,"task_list_us":[0.5,1.5],"block_us":3,"runs":"product","arguments":{"rows":2,"columns":4}}]}
{"buffer":"w","bytes":64}
{"buffer":"x","bytes":16}
{"buffer":"y","bytes":16}
{"buffer":"z","bytes":260}
{"operator":"a","kind":"p","reads":["w","x"],"writes":["y"]}
{"operator":"b","kind":"p","after":["a"],"reads":["w","y"],"writes":["z"]}
END
    "$GRIDTIDE" schedule real.jsonl --as stream -o stream.jsonl > told
    [ "$(grep -c '"runs":"operator"' stream.jsonl)" = 2 ]
    grep -q '"block_ns":3000,"runs":"operator","arguments":{"work":"product","at":"0 64 128","rows":2,"columns":4}' stream.jsonl
    "$GRIDTIDE" schedule real.jsonl -o plan.jsonl > told
    grep -q '"task_list_ns":\[500,1500\],"runs":"product","arguments":{"rows":2,"columns":4}' plan.jsonl
    grep -q '"reads":\["w","y"\],"writes":\["z"\]' plan.jsonl
    "$GRIDTIDE" run -q plan.jsonl -o plan.db
    for wrong in '{"buffer":"w","bytes":4}' '{"buffer":"v"}' '{"buffer":7,"bytes":4}' \
        '{"operator":"c","kind":"p","reads":["v"]}' '{"operator":"c","kind":"p","writes":[3]}' '{"kind":"q","implementations":[{"task_us":1,"task_list_us":[]}]}'; do
        { cat real.jsonl; echo "$wrong"; } > wrong.jsonl
        run "$GRIDTIDE" schedule wrong.jsonl
        [ "$status" -eq 1 ]
        [[ $output == *"wrong.jsonl:9: "* ]]
    done
}

@test "the real networks' operators compute what LSTM cells compute" {
    command -v python3 > /dev/null || skip "no python3"
    [ "$(python3 "$GRIDTIDE_SOURCE/tests/data/lstm.py" "$GRIDTIDE_SOURCE/traces/networks")" = right ]
}

# On toy, tasks cost nothing but their time, so that the plan's clocks are the simulation's.
@test "the simulation does what was planned" {
    for policy in wavefront round-robin list; do
        for barriers in fine global; do
            rm -f plan.db
            planned=$(told planned_us --workers 4 --policy $policy --barriers $barriers -o plan.jsonl)
            "$GRIDTIDE" run -q plan.jsonl -o plan.db > /dev/null
            [ "$("$GRIDTIDE" stats plan.db -f json | jq .summary.makespan_us)" = "$planned" ]
            [ "$("$GRIDTIDE" stats plan.db -f json | jq .tasks.count)" = "$(told tasks --workers 4 --policy $policy)" ]
        done
    done
}
