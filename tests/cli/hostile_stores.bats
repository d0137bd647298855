# Stores and profiler databases that were made to hang or to run what their maker wants: refused by every
# command that reads one, with a reason that names the file, exit status 1, and nothing left behind.

setup()
{
    cd "$BATS_TEST_TMPDIR"
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    cat > t.jsonl <<'END'
{"gridtide":1,"name":"t","device":"toy"}
{"kernel":"k","grid":8,"block":64,"block_us":10}
{"call":"launch","kernel":"k","stream":"a"}
END
    "$GRIDTIDE" run -q t.jsonl -o evil.db
    mkdir out
}

ENDLESS="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

# readers STATUS: every command that reads evil.db ends with that status; refusals name it and leave nothing.
readers()
{
    for command in stats compare explain "diff evil.db" report "export csv" "export perfetto" "validate --measured"; do
        case $command in
        export*) set -- "$1" $command evil.db -o out/file ;;
        report) set -- "$1" report evil.db -o out/report ;;
        validate*) set -- "$1" $command evil.db t.jsonl -o out/v.db ;;
        explain) set -- "$1" explain evil.db 0 ;;
        diff*) set -- "$1" $command evil.db ;;
        *) set -- "$1" $command evil.db ;;
        esac
        run timeout 20 "$GRIDTIDE" "${@:2}"
        echo "${*:2}: $status: $output"
        [ "$status" -eq "$1" ]
        [ "$1" -eq 0 ] || [[ "$output" == *"gridtide: "*"evil.db"* ]]
        [ "$1" -eq 0 ] || [ -z "$(ls -A out)" ]
        rm -rf out/*
    done
}

@test "a store with an endless view in place of a table" {
    for table in run trace device run_op comparison; do
        cp evil.db kept.db
        sqlite3 evil.db "PRAGMA foreign_keys = OFF; ALTER TABLE $table RENAME TO real_$table;
            CREATE VIEW $table AS $ENDLESS SELECT r.* FROM n, real_$table r"
        readers 1
        run timeout 20 "$GRIDTIDE" stats evil.db
        [[ "$output" == *"evil.db: damaged: $table is not the table"* ]]
        mv kept.db evil.db
    done
}

@test "a store whose own views are endless: none of them is read" {
    sqlite3 evil.db "DROP VIEW run_pair; DROP VIEW kernel_launch; DROP VIEW op_named;
        CREATE VIEW run_pair AS $ENDLESS SELECT i AS simulated_run_id, i AS measured_run_id, 1 AS trace_id FROM n;
        CREATE VIEW kernel_launch AS $ENDLESS SELECT 1 AS trace_id, i AS op_no, i AS kernel_no FROM n;
        CREATE VIEW op_named AS $ENDLESS SELECT i AS op_no FROM n"
    for command in stats compare; do
        run timeout 20 "$GRIDTIDE" $command evil.db
        [ "$status" -eq 0 ]
    done
    timeout 20 "$GRIDTIDE" report evil.db -o out/report
}

@test "a store whose table is computed, or is made up by a module" {
    cp evil.db kept.db
    sqlite3 evil.db "ALTER TABLE trace ADD COLUMN more TEXT AS (printf('%.*c', 60000000, 'x'))"
    readers 1
    cp kept.db evil.db
    sqlite3 evil.db "DROP TABLE run_bin; CREATE VIRTUAL TABLE run_bin USING fts5(a)" || skip "no fts5"
    readers 1
}

# measured: evil.db becomes a store of measured runs.
measured()
{
    sqlite3 evil.db "UPDATE run SET kind = 'measured'"
}

@test "a store whose triggers never end: runs are added to it without them" {
    measured
    cp evil.db old.db
    sqlite3 evil.db "CREATE TRIGGER forever AFTER INSERT ON run BEGIN
        INSERT INTO counter SELECT 1, 'n' || i, i FROM ($ENDLESS SELECT i FROM n); END"
    run timeout 20 "$GRIDTIDE" validate -q t.jsonl --measured old.db -o evil.db
    echo "$output"
    [ "$status" -ne 124 ]
    [ "$(sqlite3 evil.db "SELECT count(*) FROM run WHERE kind = 'simulated'")" -eq 1 ]
}

@test "a hostile store is replaced by run -o without being read, and not added to by validate" {
    measured
    cp evil.db old.db
    sqlite3 evil.db "PRAGMA foreign_keys = OFF; ALTER TABLE run RENAME TO real_run;
        CREATE VIEW run AS $ENDLESS SELECT i AS run_id, 1 AS trace_id, 1 AS device_id, 'measured' AS kind FROM n"
    cp evil.db kept.db
    run timeout 20 "$GRIDTIDE" validate -q t.jsonl --measured old.db -o evil.db
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"evil.db: damaged: run is not the table"* ]]
    cmp evil.db kept.db
    timeout 20 "$GRIDTIDE" run -q t.jsonl -o evil.db
    timeout 20 "$GRIDTIDE" stats evil.db > out/stats
}

@test "a profiler's database whose tables are views or computed" {
    sqlite3 -cmd "PRAGMA synchronous = OFF" real.sqlite < "$GRIDTIDE_SOURCE/tests/data/nsys-3.13.sql"
    for table in CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_RUNTIME StringIds; do
        cp real.sqlite evil.sqlite
        sqlite3 evil.sqlite "ALTER TABLE $table RENAME TO real;
            CREATE VIEW $table AS $ENDLESS SELECT r.* FROM n, real r"
        run timeout 20 "$GRIDTIDE" import nsys evil.sqlite -o out/t.jsonl
        echo "$table: $status: $output"
        [ "$status" -ne 124 ]
    done
}
