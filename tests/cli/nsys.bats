# gridtide import nsys: whole files in, counts as SQLite sees them, and what cannot be read.

setup() {
    TRACES="${GRIDTIDE_TRACES-$GRIDTIDE_SOURCE/../shared/traces}/nsys"
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A database from tests/data/nsys-$1.sql, as $2.
fixture() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    sqlite3 -cmd "PRAGMA synchronous = OFF" "$2" < "$GRIDTIDE_SOURCE/tests/data/nsys-$1.sql"
}

# The import of $1 fails with status 1, one line that names the file and says $2, and no trace.
refused() {
    run timeout 20 "$GRIDTIDE" import nsys "$1" -o refused.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: $1: "*"$2"* ]]
    [ "${#lines[@]}" -eq 1 ]
    [ ! -e refused.jsonl ]
}

rows() {
    sqlite3 "$1" "SELECT count(*) FROM $2" 2> /dev/null || echo 0
}

@test "real exports: every kernel, copy, memset and call of the tables, none more" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    ls "$TRACES"/*.sqlite.gz > /dev/null 2>&1 || skip "no real exports in $TRACES"
    for file in "$TRACES"/*.sqlite.gz; do
        gunzip -c "$file" > real.sqlite
        kernels=$(rows real.sqlite CUPTI_ACTIVITY_KIND_KERNEL)
        copies=$(rows real.sqlite CUPTI_ACTIVITY_KIND_MEMCPY)
        memsets=$(rows real.sqlite CUPTI_ACTIVITY_KIND_MEMSET)
        calls=$(rows real.sqlite CUPTI_ACTIVITY_KIND_RUNTIME)
        for table in KERNEL MEMCPY MEMSET; do
            orphans=$(sqlite3 real.sqlite "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_$table WHERE
                (globalPid / 16777216, correlationId) NOT IN
                (SELECT globalTid / 16777216, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)" \
                2> /dev/null || echo 0)
            calls=$((calls + orphans))
        done
        run "$GRIDTIDE" import nsys "$file" -o real.jsonl
        [ "$status" -eq 0 ]
        [[ "$output" == *"$kernels kernels, $copies copies, $memsets memsets"* ]]
        [[ "$output" =~ calls\ +"$calls" ]]
    done
}

@test "plain, gzip, zstd and standard input give the same trace; twice the same bytes" {
    fixture 3.24 a.sqlite
    "$GRIDTIDE" import -q nsys a.sqlite -o plain.jsonl
    "$GRIDTIDE" import -q nsys a.sqlite -o again.jsonl
    cmp plain.jsonl again.jsonl
    "$GRIDTIDE" import -q a.sqlite -o sniffed.jsonl
    cmp plain.jsonl sniffed.jsonl
    gzip -c a.sqlite > packed
    mkdir gz && mv packed gz/a.sqlite
    "$GRIDTIDE" import -q nsys gz/a.sqlite -o packed.jsonl
    cmp plain.jsonl packed.jsonl
    if command -v zstd > /dev/null; then
        mkdir zst && zstd -q a.sqlite -o zst/a.sqlite
        "$GRIDTIDE" import -q nsys zst/a.sqlite -o packed.jsonl
        cmp plain.jsonl packed.jsonl
    fi
    "$GRIDTIDE" import -q nsys - -o piped.jsonl < gz/a.sqlite
    [ "$(grep -c . plain.jsonl)" -eq "$(grep -c . piped.jsonl)" ]
}

@test "a database left in write-ahead mode is read, and nothing is written beside it" {
    fixture 3.13 wal.sqlite
    sqlite3 wal.sqlite "PRAGMA journal_mode = WAL" > /dev/null
    rm -f wal.sqlite-wal wal.sqlite-shm
    mkdir beside && mv wal.sqlite beside
    before=$(cksum < beside/wal.sqlite)
    chmod a-w beside beside/wal.sqlite
    run "$GRIDTIDE" import -q nsys beside/wal.sqlite -o plain.jsonl
    chmod u+w beside
    [ "$status" -eq 0 ]
    [ "$(ls beside)" = wal.sqlite ]
    [ "$(cksum < beside/wal.sqlite)" = "$before" ]
    gzip -c beside/wal.sqlite > wal.gz
    "$GRIDTIDE" import -q nsys wal.gz -o packed.jsonl
    [ -s packed.jsonl ]
}

@test "unpacking leaves nothing in TMPDIR, and says so when there is no room" {
    fixture 3.13 a.sqlite
    gzip a.sqlite
    mkdir tmp
    TMPDIR=$PWD/tmp "$GRIDTIDE" import -q nsys a.sqlite.gz -o a.jsonl
    [ -z "$(ls tmp)" ]
    TMPDIR=$PWD/nowhere refused a.sqlite.gz "TMPDIR"
}

@test "what is no database fails at once and says what it is" {
    : > empty.sqlite
    refused empty.sqlite "empty"
    head -c 65536 /dev/urandom > random.sqlite
    refused random.sqlite "not an SQLite database"
    printf 'SQLite format 3' > short.sqlite
    refused short.sqlite ""
    printf 'SQLite format 3\0and no more' > header.sqlite
    refused header.sqlite "truncated"
    mkdir folder.sqlite
    refused folder.sqlite "directory"
    refused nowhere.sqlite "No such file"
    printf 'SQLite format 3\0' > sparse.sqlite
    truncate -s 5G sparse.sqlite
    refused sparse.sqlite ""
    truncate -s 5G zeros.sqlite
    refused zeros.sqlite "not an SQLite database"
    head -c 10000000 /dev/zero | gzip > zeros.gz
    refused zeros.gz "not an SQLite database"
}

@test "a file that may not be read is named" {
    [ "$(id -u)" -ne 0 ] || skip "root reads everything"
    fixture 2.9 secret.sqlite
    chmod 000 secret.sqlite
    refused secret.sqlite "Permission denied"
}

@test "a packed database cut short, or with more behind it, is an error" {
    fixture 2.9 a.sqlite
    size=$(stat -c %s a.sqlite)
    head -c $((size - 512)) a.sqlite | gzip > cut.gz
    refused cut.gz "truncated"
    { cat a.sqlite; head -c 512 /dev/zero; } | gzip > long.gz
    refused long.gz "has data after"
    gzip a.sqlite
    head -c $(($(stat -c %s a.sqlite.gz) / 2)) a.sqlite.gz > half.gz
    refused half.gz ""
}

@test "a store of our own is no export" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    sqlite3 -cmd "PRAGMA synchronous = OFF" store.db < "$GRIDTIDE_SOURCE/traces/store/schema.sql"
    refused store.db "no table of CUDA activity"
}

@test "a report is exported by nsys; without nsys the command to run elsewhere is told" {
    mkdir bin tmp
    fixture 3.24 a.sqlite
    echo 'no database' > step.nsys-rep
    printf '#!/bin/sh\necho "$@" > asked\nwhile [ "$1" != --output ]; do shift; done\ncp a.sqlite "$2"\n' > bin/nsys
    chmod +x bin/nsys
    export TMPDIR="$PWD/tmp"
    PATH="$PWD/bin:$PATH" run "$GRIDTIDE" import step.nsys-rep
    [ "$status" -eq 0 ]
    [[ "$output" == *"step (nsys)"*"written to  step.jsonl.gz"* ]]
    grep -q '^export --type sqlite --force-overwrite true --output .*/report.sqlite step.nsys-rep$' asked
    "$GRIDTIDE" import -q a.sqlite -o plain.jsonl
    zcat step.jsonl.gz | sed '1s/"name":"step"/"name":"plain"/' | tail -n +2 | cmp - <(tail -n +2 plain.jsonl)
    printf '#!/bin/sh\necho "ERROR: broken" >&2\nexit 1\n' > bin/nsys
    PATH="$PWD/bin:$PATH" run "$GRIDTIDE" import step.nsys-rep -o no.jsonl
    [ "$status" -eq 1 ]
    [ "$output" = "gridtide: step.nsys-rep: nsys failed on the report: ERROR: broken" ]
    PATH=/nonexistent run "$GRIDTIDE" run step.nsys-rep -o no.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"step.nsys-rep: "*"(no nsys in PATH)"*" run 'nsys export --type sqlite --output step.sqlite step.nsys-rep', then import step.sqlite" ]]
    [ -z "$(ls tmp)" ]
    [ ! -e no.jsonl ]
    [ ! -e no.db ]
}
