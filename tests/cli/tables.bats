# --table NAME: one table of a command, one table or view of a store, in files that other programs read without options.

setup()
{
    command -v python3 > /dev/null || skip "python3 is not installed"
    cd "$BATS_TEST_TMPDIR"
    samples=$GRIDTIDE_SOURCE/traces/samples
    "$GRIDTIDE" run -q "$samples/cuda-overlap-2.json.gz" -o run.db
}

# names COMMAND: all tables that the command can print, as it says itself, a line each.
names()
{
    run "$GRIDTIDE" "$1" --table nonsense
    [ "$status" -eq 2 ]
    [[ "${lines[0]}" == "gridtide $1: unknown table 'nonsense'; tables are "* ]]
    sed 's/.* tables are //; s/, /\n/g' <<< "${lines[0]}"
}

# Each table of the command that there is has the same cells in CSV and in JSON, and names its columns in its first line.
same_in_both()
{
    local all='' name
    for name in $(names "$1"); do
        run --separate-stderr "$GRIDTIDE" "$@" --table "$name" --format csv
        if [ "$status" -eq 0 ]; then
            "$GRIDTIDE" "$@" --table "$name" --format csv > "$name.csv"
            "$GRIDTIDE" "$@" --table "$name" --format json > "$name.json"
            "$GRIDTIDE" "$@" --table "$name" > "$name.txt"
            all="$all $name"
        else
            [[ "$status $stderr" == "1 gridtide: there is no table '$name' here; there are "* ||
               "$status $stderr" == "2 gridtide $1: --table=$name needs --"* ]]
            [ -z "$output" ]
        fi
    done
    [ -n "$all" ]
    # shellcheck disable=SC2086 # a list of words
    python3 - $all << 'END'
import csv, json, sys
for name in sys.argv[1:]:
    with open(name + ".csv", newline="") as file:
        heading, *rows = csv.reader(file, strict=True)
    assert heading and len(set(heading)) == len(heading) and heading[0] != "table", heading
    document = json.load(open(name + ".json"))
    assert list(document) == [name], list(document)
    members = document[name]
    members = [members] if isinstance(members, dict) else members
    assert len(rows) == len(members), (name, len(rows), len(members))
    for row, member in zip(rows, members):
        assert len(row) == len(heading) and list(member) == heading, (name, row, list(member))
        for cell, value in zip(row, member.values()):
            same = float(cell) == value if isinstance(value, (int, float)) else cell == (value or "")
            assert same, (name, cell, value)
END
}

@test "every table of stats, explain, diff and compare can be had alone" {
    same_in_both stats run.db
    same_in_both explain run.db --no-predict
    same_in_both diff run.db run.db
    same_in_both compare run.db
}

@test "every table of whatif, sweep and check can be had alone" {
    same_in_both whatif -q "$samples/cuda-overlap-2.json.gz" --change connections=2
    grep -q '^connections=2,' assumptions.csv
    same_in_both sweep -q "$samples/cuda-overlap-2.json.gz" --over connections=2 -o sweep.db
    same_in_both check -q "$samples/cuda-overlap-2.json.gz"
}

@test "every table of run can be had alone, with its assumptions" {
    same_in_both run -q "$samples/cuda-overlap-2.json.gz" --set chip.sms=66 -o half.db
    grep -q '^chip.sms 132 -> 66' assumptions.csv
    same_in_both run -q "$samples/overlap-4-streams.jsonl" -o written.db
    # The written trace has no recorded times: its makespan has an interval.
    python3 - << 'END'
import csv
(row,) = csv.DictReader(open("interval.csv", newline=""))
assert float(row["low_us"]) < float(row["makespan_us"]) < float(row["high_us"]), row
END
    run "$GRIDTIDE" run -q "$samples/overlap-4-streams.jsonl" -o written.db
    [ -z "$output" ]
}

@test "every table of batch and serve can be had alone" {
    printf '%s\n' '{"gridtide":1,"name":"a","device":"toy"}' '{"kernel":"k","grid":2,"block":1024,"block_us":250}' \
        '{"call":"launch","kernel":"k"}' '{"call":"device_sync"}' > a.jsonl
    printf 'seconds\n0\n0.0001\n0.002\n' > a.csv
    printf '%s\n' '{"load":"one","device":"toy"}' \
        '{"tenant":"a","trace":"a.jsonl","arrivals":"file","file":"a.csv","deadline_us":300}' > load.jsonl
    same_in_both serve -q load.jsonl --saturation
    [ -s saturation.csv ]
    for pass in decode prefill; do
        cp a.jsonl $pass.jsonl
    done
    printf 'seconds,prompt_tokens,output_tokens\n0,10,3\n0.00005,10,2\n' > requests.csv
    printf '%s\n' '{"engine":"two","device":"toy","sequences":4}' \
        '{"pass":"decode","trace":"decode.jsonl","sequences":1,"context":64}' \
        '{"pass":"prefill","trace":"prefill.jsonl","tokens":16}' '{"requests":"file","file":"requests.csv"}' > engine.jsonl
    same_in_both batch -q engine.jsonl
    same_in_both batch -q engine.jsonl --costs
    [ -s decode.csv ]
}

@test "for people it is the table and nothing else" {
    "$GRIDTIDE" explain run.db --no-predict --table limit > limit
    [ "$(head -n 1 limit)" = "trace        cuda-overlap-2" ]
    "$GRIDTIDE" whatif -q "$samples/cuda-overlap-2.json.gz" --change connections=2 --table changes > changes
    [ "$(wc -l < changes)" -eq 2 ]
}

@test "what a command says of its own failure is not about tables" {
    run "$GRIDTIDE" stats none.db --table summary
    [ "$status" -eq 1 ]
    [ "$output" = "gridtide: none.db: No such file or directory; make it with 'gridtide run'" ]
    # There is a race (exit status 1), and still no such table.
    run "$GRIDTIDE" check -q "$samples/race-reuse.jsonl" --table nonsense
    [ "$status" -eq 2 ]
}

# with_tables: the commands that have --table, but for export, whose tables are the store's.
with_tables()
{
    for command in $("$GRIDTIDE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        [ "$command" = export ] || ! "$GRIDTIDE" "$command" --help | grep -q -e '--table=NAME' || echo "$command"
    done
}

@test "a wrong name is refused before anything is read or written" {
    commands=$(with_tables)
    [ "$(wc -w <<< "$commands")" -ge 10 ]
    for command in $commands; do
        run "$GRIDTIDE" "$command" none.jsonl --table nonsense
        [ "$status" -eq 2 ]
        [[ "${lines[0]}" == "gridtide $command: unknown table 'nonsense'; tables are "* ]]
    done
    # A table that there is only with another option.
    for words in 'stats workers --recorded-tasks' 'serve saturation --saturation' 'batch prefill --costs' \
                 'validate rules --random=N' 'validate shrunk --shrink'; do
        read -r command table option <<< "$words"
        run "$GRIDTIDE" "$command" none.jsonl --table "$table"
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "gridtide $command: --table=$table needs $option" ]
    done
    run "$GRIDTIDE" run -q "$samples/overlap-4-streams.jsonl" --table nonsense -o new.db
    [ "$status" -eq 2 ]
    [ ! -e new.db ]
}

@test "a table that a command can print, but not of this run, is a failure that names those of the run" {
    run "$GRIDTIDE" run -q "$samples/overlap-4-streams.jsonl" --table cycles -o new.db
    [ "$status" -eq 1 ]
    [ "$output" = "gridtide: there is no table 'cycles' here; there are run, interval" ]
    [ -s new.db ]
}

@test "help and completion have the names that the program takes, and each stands in the source" {
    for command in $(with_tables); do
        for name in $(names "$command"); do
            "$GRIDTIDE" "$command" --help | grep -qw "$name"
            grep -rqF "\"$name\"" "$GRIDTIDE_SOURCE"/sim/cmd/*/*_*.c "$GRIDTIDE_SOURCE"/sim/cmd/*/{check,compare,diff,explain}.c \
                "$GRIDTIDE_SOURCE/sim/batching/pass_cost.c" || { echo "$command has no $name"; return 1; }
        done
        names "$command"
    done | sort -u > known
    # Of commands that have no --table.
    printf '%s\n' schedule devices keys >> known
    grep -rhoE 'gt_table_new\("[a-z_]+"' "$GRIDTIDE_SOURCE/sim/cmd" | sed 's/.*("//; s/"//' | sort -u > made
    run grep -vxFf known made
    [ -z "$output" ]
}

# export_all STORE TYPE...: its tables, views or both, a file each in all/.
export_all()
{
    mkdir -p all
    for name in $(sqlite3 "$1" "SELECT name FROM sqlite_schema WHERE instr('${*:2}', type) > 0"); do
        "$GRIDTIDE" export csv "$1" --table "$name" -o "all/$name.csv"
    done
}

@test "every table and view of a store can be exported, and has SQLite's rows" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    "$GRIDTIDE" whatif -q "$samples/cuda-overlap-2.json.gz" --change connections=2 -o run.db > answer
    export_all run.db table view
    python3 - << 'END'
import csv, glob, os, sqlite3
store = sqlite3.connect("run.db")
files = glob.glob("all/*.csv")
assert len(files) > 60, files
filled = 0
for path in files:
    rows = store.execute('SELECT * FROM "%s"' % os.path.basename(path)[:-4])
    with open(path, newline="") as file:
        heading, *lines = csv.reader(file, strict=True)
    assert heading == [column[0] for column in rows.description], path
    rows = rows.fetchall()
    assert len(lines) == len(rows), path
    filled += len(rows) > 0
    for line, row in zip(lines, rows):
        for cell, value in zip(line, row):
            assert float(cell) == value if isinstance(value, (int, float)) else cell == (value or ""), (path, cell, value)
assert filled > 30, filled
END
}

@test "a store of an older version has the views that it was made with" {
    # Version 3: without kernels' families.
    "$GRIDTIDE" export csv "$GRIDTIDE_SOURCE/validate/recordings/programs.db" --table run_summary -o summary.csv
    [ "$(wc -l < summary.csv)" -gt 2 ]
    run "$GRIDTIDE" export csv "$GRIDTIDE_SOURCE/validate/recordings/programs.db" --table family_time -o families.csv
    [ "$status" -eq 1 ]
    [[ "$output" == *"has no family_time: a newer version"* ]]
}

@test "pandas and DuckDB read these files without options" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    readers=
    for reader in pandas duckdb; do
        ! python3 -c "import $reader" 2> /dev/null || readers="$readers $reader"
    done
    [ -n "$readers" ] || skip "neither pandas nor duckdb is installed"
    export_all run.db view
    # shellcheck disable=SC2086 # a list of words
    python3 - $readers << 'END'
import csv, glob, sys
for path in sorted(glob.glob("all/*.csv")):
    with open(path, newline="") as file:
        heading, *rows = csv.reader(file, strict=True)
    for reader in sys.argv[1:]:
        if reader == "pandas":
            import pandas
            frame = pandas.read_csv(path)
            columns, count = list(frame.columns), len(frame)
        else:
            import duckdb
            relation = duckdb.sql("SELECT * FROM '%s'" % path)
            columns, count = relation.columns, len(relation.fetchall())
        assert columns == heading and count == len(rows), (reader, path, columns, count)
    if "pandas" in sys.argv and path == "all/op_time.csv":
        times = [name for name in frame.columns if name.endswith("_us")]
        assert all(pandas.api.types.is_numeric_dtype(frame[name]) for name in times) and len(times) == 10, frame.dtypes
END
}

@test "a view is what the program says that it is, whatever the store says" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    "$GRIDTIDE" export csv run.db --table op_time -o before.csv
    sqlite3 run.db "DROP VIEW op_named; CREATE VIEW op_named AS SELECT 1 AS op_no;
                    DROP VIEW op_time; CREATE VIEW op_time AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                    SELECT i FROM n"
    "$GRIDTIDE" export csv run.db --table op_time -o after.csv
    cmp before.csv after.csv
    sqlite3 run.db "DROP TABLE stream; CREATE VIEW stream AS SELECT 1 AS stream_no"
    run "$GRIDTIDE" export csv run.db --table op_time -o damaged.csv
    [ "$status" -eq 1 ]
    [[ "$output" == *"stream is not the table of that name"* ]]
    [ ! -e damaged.csv ]
}

@test "a sweep's grid has a column for each parameter" {
    "$GRIDTIDE" sweep -q "$samples/cuda-overlap-2.json.gz" --over connections=2,8 -o sweep.db > /dev/null
    "$GRIDTIDE" export csv sweep.db --table sweep_grid -o grid.csv
    python3 - << 'END'
import csv
rows = list(csv.DictReader(open("grid.csv", newline="")))
assert [(row["point"], row["trace"], row["connections"]) for row in rows] == [
    ("0", "cuda-overlap-2", "2"), ("1", "cuda-overlap-2", "8")], rows
END
}

@test "export --table refuses what it cannot do" {
    run "$GRIDTIDE" export csv run.db --table nonsense -o x.csv
    [ "$status" -eq 2 ]
    [[ "$output" == "gridtide: stores have no table 'nonsense'; views are op_named, op_time, "*"; tables are in gridtide-store(5); see "* ]]
    run "$GRIDTIDE" export perfetto run.db --table op_time -o x.csv
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" export csv run.db --table op_time --step 1 -o x.csv
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" export csv run.db --table sweep_grid -o x.csv
    [ "$status" -eq 1 ]
    [[ "$output" == *"run.db: has no sweep_grid: "* ]]
    [ ! -e x.csv ]
}
