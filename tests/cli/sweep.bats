# A grid of changes over traces into one store: its rows, whoever made them; what is refused, killed, gone on with.

load figures_helpers

setup()
{
    folder=$(mktemp -d)
    samples="$GRIDTIDE_SOURCE/traces/samples"
    trace="$samples/cuda-overlap-2.json.gz"
}

teardown()
{
    rm -r "$folder"
}

# rows STORE: all that a sweep has, as text.
rows()
{
    sqlite3 "$1" .dump | grep -E '^INSERT INTO sweep|sweep_grid'
}

# sweep ARGUMENT...: quietly.
sweep()
{
    "$GRIDTIDE" sweep -q "$@"
}

# slow: a trace whose points take a while.
slow()
{
    echo '{"gridtide":1,"name":"slow","device":"h200"}'
    echo '{"kernel":"k","grid":2000,"block":256,"block_us":5}'
    for _ in {1..1500}; do
        printf '{"call":"launch","kernel":"k","stream":"s%d"}\n' 1 2
    done
}

@test "a row has what whatif answers" {
    sweep "$trace" --over connections=1,8 --over launch-cost=2,9 -o "$folder/db" -f json > "$folder/json"
    "$GRIDTIDE" whatif "$trace" -q -f json --change connections=1 --change launch-cost=9 > "$folder/one"
    python3 - "$folder/json" "$folder/one" <<- 'END'
	import json, sys
	grid, one = (json.load(open(path)) for path in sys.argv[1:])
	assert [(row["connections"], row["launch-cost"]) for row in grid["sweep"]] == [
	    ("1", "2"), ("1", "9"), ("8", "2"), ("8", "9")]
	row, answer = grid["sweep"][1], one["changes"][0]
	for field in "predicted_us step_us low_us high_us change_pct trust bound_by bound_pct".split():
	    assert row[field] == answer[field], field
	assert row["assumptions"].split("\n") == answer["assumptions"]
	for field in "trace measured_us replay_us baseline_us step_us steps".split():
	    assert grid["traces"][0][field] == one[field], field
	END
    [ "$(sqlite3 "$folder/db" "SELECT predicted_us FROM sweep_grid WHERE connections = 1 AND \"launch-cost\" = 9")" = \
        "$(sqlite3 "$folder/db" 'SELECT predicted_us FROM sweep WHERE point = 1')" ]
}

@test "one worker and four make the same rows" {
    as_released
    for jobs in 1 4; do
        sweep "$samples"/*.json.gz --over connections=1,8 --over pinned --over graph=off,on,step -j "$jobs" \
            -o "$folder/$jobs" > "$folder/$jobs.txt"
        rows "$folder/$jobs" > "$folder/$jobs.sql"
    done
    cmp "$folder/1.sql" "$folder/4.sql"
    cmp "$folder/1.txt" "$folder/4.txt"
}

@test "what a change refuses is a row with the reason" {
    sweep "$samples/cuda-default-stream.json.gz" --over graph -o "$folder/db" > "$folder/table"
    [ "$(sqlite3 "$folder/db" "SELECT count(*) FROM sweep_grid WHERE graph = 'on' AND predicted_us IS NULL AND
        refusal LIKE '%stream capture refuses it: call 3 %'")" = 1 ]
    grep -q '^best of cuda-default-stream: no change, ' "$folder/table"
}

@test "a worker that is killed does nothing to the rows; its point is done again" {
    as_released # what a kill leaves is the same
    slow > "$folder/slow.jsonl"
    "$GRIDTIDE" sweep -q "$folder/slow.jsonl" --over launch-cost=3,4,5 -j 2 -o "$folder/db" > "$folder/killed" &
    parent=$!
    until worker=$(pgrep -P "$parent" | head -n 1) && [ -n "$worker" ]; do sleep 0.05; done
    kill -KILL "$worker"
    wait "$parent"
    sweep "$folder/slow.jsonl" --over launch-cost=3,4,5 -j 1 -o "$folder/whole" > "$folder/once"
    cmp "$folder/killed" "$folder/once"
    [ "$(rows "$folder/db")" = "$(rows "$folder/whole")" ]
}

@test "what is done stays, and the same command goes on" {
    as_released # what a kill leaves is the same
    slow > "$folder/slow.jsonl"
    "$GRIDTIDE" sweep "$trace" "$folder/slow.jsonl" --over launch-cost=3,4,5,6,7,8 -j 1 -o "$folder/db" \
        2> "$folder/said" &
    parent=$!
    until worker=$(pgrep -P "$parent" | head -n 1) && [ -n "$worker" ]; do
        kill -0 "$parent"
        sleep 0.01
    done
    # Its worker is let run a little at a time, so that however fast the machine is, points are left when it is stopped.
    for ((i = 0; i < 400; i++)); do
        kill -STOP "$worker"
        sleep 0.1
        [ "$(sqlite3 "$folder/db" 'SELECT count(*) FROM sweep' 2> /dev/null || echo 0)" -eq 0 ] || break
        kill -CONT "$worker"
        sleep 0.02
    done
    kill -TERM "$parent"
    status=0
    wait "$parent" || status=$?
    [ "$status" = 143 ]
    grep -qE 'interrupted: [0-9]+ of 12 points are done' "$folder/said"
    sweep "$trace" "$folder/slow.jsonl" --over launch-cost=3,4,5,6,7,8 -o "$folder/db"
    [ "$(sqlite3 "$folder/db" 'SELECT count(*) FROM sweep')" = 12 ]
}

@test "another sweep, another trace of that name or a store of runs is left alone" {
    cp "$trace" "$folder/trace.json.gz"
    sweep "$folder/trace.json.gz" --over pinned -o "$folder/db"
    run sweep "$folder/trace.json.gz" --over async -o "$folder/db"
    [ "$status" = 1 ]
    [[ $output == *"a sweep with other parameters"* ]]
    run sweep "$folder/trace.json.gz" --over pinned --seed 2 -o "$folder/db"
    [ "$status" = 1 ]
    [[ $output == *"made with other options"* ]]
    cp "$samples/cuda-overlap-4.json.gz" "$folder/trace.json.gz"
    run sweep "$folder/trace.json.gz" --over pinned -o "$folder/db"
    [ "$status" = 1 ]
    [[ $output == *"whose file has changed"* ]]
    "$GRIDTIDE" run "$trace" -q -o "$folder/runs"
    run sweep "$trace" --over pinned -o "$folder/runs"
    [ "$status" = 1 ]
    [[ $output == *"this store holds runs, not a sweep"* ]]
}

@test "a trace that cannot be read is told, and the others are done" {
    echo nonsense > "$folder/bad.json"
    run sweep "$folder/bad.json" "$trace" --over pinned -j 2 -o "$folder/db"
    [ "$status" = 1 ]
    [ "$(grep -c 'bad.json' <<< "$output")" -ge 1 ]
    [ "$(sqlite3 "$folder/db" 'SELECT count(*), sum(trace_no) FROM sweep')" = '2|2' ]
}

@test "what makes no sense is refused before anything is written" {
    many=$(seq -s , 1 1001)
    thousand=$(seq -s , 1 1000)
    for wrong in '' streams streams= nosuch=1 nosuch connections=1,,2 connections=1,1 'connections=,' pinned=x \
        "connections=$many" '=' ',' 'kernel=a<b,c*2'; do
        run sweep "$trace" --over "$wrong" -o "$folder/db"
        echo "$wrong: $status $output"
        [ "$status" = 2 ]
        [[ $output == gridtide* ]]
    done
    run sweep "$trace" --over "connections=$thousand" --over "launch-cost=$thousand" --over pinned -o "$folder/db"
    [ "$status" = 2 ]
    [[ $output == *"more than 1000000 points"* ]]
    for wrong in '-j 0' '-j 1001' '-j x' '-f xml' '--blocks maybe' '-' "$trace" '--part=nosuch'; do
        # shellcheck disable=SC2086
        run sweep "$trace" --over pinned -o "$folder/db" $wrong
        echo "$wrong: $status $output"
        [ "$status" = 2 ]
    done
    for wrong in - "$folder" /dev/null '' "$trace"; do
        run sweep "$trace" --over pinned -o "$wrong"
        echo "-o '$wrong': $status $output"
        [ "$status" = 1 ]
    done
    run sweep "$folder/none" --over pinned -o "$folder/db"
    [ "$status" = 1 ]
    [ ! -e "$folder/db" ]
}

@test "values may hold commas within brackets, and names that no column has" {
    sweep "$trace" --over 'kernel=f<int, 4>*2,g(a,b)*3' --over 'kernel=x*2' -o "$folder/db" -f csv > "$folder/csv"
    grep -q 'trace,kernel,kernel#2,step_us' "$folder/csv"
    [ "$(sqlite3 "$folder/db" 'SELECT count(*) FROM sweep_value WHERE parameter_no = 0')" = 2 ]
    [ "$(sqlite3 "$folder/db" 'SELECT count(*) FROM sweep_grid WHERE refusal IS NOT NULL')" = 2 ]
}

@test "Slurm that is not there is told" {
    PATH=$(dirname "$(command -v env)") command -v sbatch > /dev/null && skip "sbatch is installed"
    run sweep "$trace" --over pinned -o "$folder/db" --slurm ''
    [ "$status" = 1 ]
    [[ $output == *"sbatch was not found"* ]]
}

@test "the report of a sweep has the best, a line a parameter and a map" {
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
    sweep "$samples"/cuda-overlap-?.json.gz --over streams=1,2 --over connections=1,8 -o "$folder/db" > "$folder/table"
    "$GRIDTIDE" report -q "$folder/db" -o "$folder/report"
    grep -q '12 points of 3 traces: 12 answered, 0 refused' "$folder/report/index.html"
    grep -q 'streams 2, connections 8' "$folder/report/index.html"
    for picture in sweep sweep-map; do
        [ -s "$folder/report/$picture.svg" ]
        [ -s "$folder/report/$picture.png" ]
    done
    sweep "$trace" --over streams=1,2 -o "$folder/one" > "$folder/table"
    "$GRIDTIDE" report -q "$folder/one" -o "$folder/report"
    [ ! -e "$folder/report/sweep-map.svg" ]
}
