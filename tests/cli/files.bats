# Files that are read and written: nothing is written over what is read, and what cannot be written is told.

setup()
{
    cd "$BATS_TEST_TMPDIR"
    mkdir out
    cat > trace.jsonl <<'END'
{"gridtide":1,"device":"toy"}
{"kernel":"k","grid":1,"block":1,"block_us":1}
{"call":"launch","kernel":"k"}
END
}

store()
{
    "$GRIDTIDE" run -q trace.jsonl -o run.db
}

# spared FILE COMMAND...: the command is refused, for it would write over the file, which stays as it is.
spared()
{
    local file=$1 before
    shift
    before=$(sha256sum < "$file")
    run timeout 60 "$GRIDTIDE" "$@"
    echo "$*: $status: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"gridtide: "*"would be written over what is read"* ]]
    [ "$before" = "$(sha256sum < "$file")" ]
    [ -z "$(ls -A . | grep '^\.gridtide-')" ]
}

@test "files: a store is not exported over itself, whatever its name" {
    store
    ln -s run.db soft.db
    ln run.db hard.db
    for format in csv perfetto; do
        for name in run.db ./run.db soft.db hard.db "$PWD/out/../run.db"; do
            spared run.db export $format run.db -o "$name"
            spared run.db export $format "$name" -o run.db
        done
        exec 7< run.db
        spared run.db export $format /proc/self/fd/7 -o run.db
        spared run.db export $format run.db -o /proc/self/fd/7
        spared run.db export $format run.db -o /dev/fd/7
        exec 7<&-
    done
    "$GRIDTIDE" export csv run.db -o other.csv
    "$GRIDTIDE" export csv run.db -o other.csv
}

@test "files: a trace, a device file and a profile are not run over" {
    ln -s trace.jsonl link.jsonl
    spared trace.jsonl run trace.jsonl -o trace.jsonl
    spared trace.jsonl run link.jsonl -o trace.jsonl
    spared trace.jsonl run trace.jsonl -o link.jsonl
    cp trace.jsonl run.db-journal
    spared run.db-journal run run.db-journal -o run.db
    cp "$GRIDTIDE_SOURCE/sim/devices/toy.ini" my.ini
    spared my.ini run trace.jsonl --device ./my.ini -o my.ini
    sed -i 's|"toy"|"./my.ini"|' trace.jsonl
    spared my.ini run trace.jsonl -o my.ini
}

@test "files: an import is not written over what it is made from" {
    spared trace.jsonl import trace.jsonl -o trace.jsonl
    spared trace.jsonl import gridtide - -o trace.jsonl < trace.jsonl
    ln trace.jsonl hard.jsonl.gz
    spared trace.jsonl import hard.jsonl.gz
    cp -r "$GRIDTIDE_SOURCE/tests/data/ncu" ncu
    chmod -R u+w ncu
    spared ncu/raw.csv import ncu -o ncu/raw.csv
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    sqlite3 n.sqlite < "$GRIDTIDE_SOURCE/tests/data/nsys-3.13.sql"
    spared n.sqlite import nsys n.sqlite -o n.sqlite
    spared n.sqlite import n.sqlite -o n.sqlite
}

@test "files: a store of measured runs is not validated into itself" {
    "$GRIDTIDE" import -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" -o t.jsonl
    "$GRIDTIDE" run -q t.jsonl -o run.db
    spared run.db validate --measured run.db t.jsonl -o run.db
}

@test "files: a report does not replace the folder of its store" {
    store
    "$GRIDTIDE" report -q run.db -o report || skip "no gnuplot"
    cp run.db report/errors.png
    cp report/index.html before.html
    run "$GRIDTIDE" report report/errors.png -o report
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"report: contains 'errors.png', which this report reads"* ]]
    cmp run.db report/errors.png
    cmp before.html report/index.html
}

@test "files: standard output into what is read is refused" {
    store
    before=$(sha256sum < run.db)
    for command in stats compare 'export csv -o -'; do
        run bash -c '"$GRIDTIDE" '"$command"' run.db 1<> run.db'
        echo "$command: $output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"standard output goes to the file that is read"* ]]
    done
    [ "$before" = "$(sha256sum < run.db)" ]
}

@test "files: the limit on a file's size is told like a full disk, and nothing is left" {
    for i in $(seq 20000); do echo '{"call":"launch","kernel":"k"}'; done >> trace.jsonl
    cd out
    for command in 'run -q ../trace.jsonl -o run.db' 'import -q ../trace.jsonl -o big.jsonl'; do
        run bash -c 'ulimit -f 100; exec "$GRIDTIDE" '"$command"
        echo "$command: $status: $output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"gridtide: "*"ulimit -f"* ]]
        [ -z "$(ls -A)" ]
    done
    "$GRIDTIDE" run -q ../trace.jsonl -o ../run.db
    run bash -c 'ulimit -f 100; exec "$GRIDTIDE" export csv ../run.db -o runs.csv'
    [ "$status" -eq 1 ]
    [[ "$output" == *"gridtide: "*"ulimit -f"* ]]
    [ -z "$(ls -A)" ]
}

@test "files: a report that outgrows the limit on a file's size is not made" {
    store
    run bash -c 'ulimit -f 4; exec "$GRIDTIDE" report -q run.db -o out/report'
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: "* ]]
    [ -z "$(ls -A out)" ]
}

@test "files: a full disk is told wherever something is written" {
    [ -w /dev/full ] || skip "no /dev/full"
    store
    for command in 'export csv run.db -o' 'export perfetto run.db -o' 'import -q trace.jsonl -o'; do
        run "$GRIDTIDE" $command /dev/full
        echo "$command: $output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"gridtide: "*"/dev/full: the disk is full"* ]]
        run bash -c '"$GRIDTIDE" '"$command"' - > /dev/full'
        [ "$status" -eq 1 ]
        [[ "$output" == *"gridtide: "*"standard output: the disk is full"* ]]
    done
}

@test "files: what is printed and does not arrive is a failure, help and version too" {
    [ -w /dev/full ] || skip "no /dev/full"
    store
    for command in help --help --version 'stats --help' 'stats --usage' 'run --version' 'stats run.db' \
                   'stats -f json run.db' 'stats -f csv run.db' 'compare -f json run.db' devices \
                   'devices --describe' 'run trace.jsonl -o out/run.db'; do
        run bash -c '"$GRIDTIDE" '"$command"' > /dev/full'
        echo "$command: $status: $output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"gridtide: standard output: cannot write: "* ]]
    done
}

@test "files: a closed standard stream is no file to write to" {
    run bash -c '"$GRIDTIDE" run trace.jsonl -o run.db >&-'
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"standard output: cannot write"* ]]
    "$GRIDTIDE" stats run.db > /dev/null
    bash -c '"$GRIDTIDE" run trace.jsonl -o run.db <&- 2>&- > /dev/null'
    "$GRIDTIDE" stats run.db > /dev/null
}

# same_trace FILE: made.jsonl is the same.
same_trace()
{
    echo "$1: $(cmp "$1" made.jsonl 2>&1)"
    cmp -s "$1" made.jsonl
    rm made.jsonl
}

@test "files: import takes any format from a pipe, a FIFO and standard input" {
    samples="$GRIDTIDE_SOURCE/traces/samples"
    cp "$samples/cuda-overlap-2.json.gz" kineto.json.gz
    gunzip -k kineto.json.gz
    formats="trace.jsonl kineto.json.gz kineto.json"
    if command -v sqlite3 > /dev/null; then
        sqlite3 n.sqlite < "$GRIDTIDE_SOURCE/tests/data/nsys-3.13.sql"
        gzip -k n.sqlite
        formats="$formats n.sqlite n.sqlite.gz"
    fi
    mkfifo fifo
    for file in $formats; do
        # The trace is named after the file: the pipes' names are given.
        ln -s /dev/stdin stdin.link
        "$GRIDTIDE" import -q "$file" -o - | sed 's/"name":"[^"]*"//' > expected.jsonl
        for way in 'import -q - < FILE' 'cat FILE | import -q -' 'cat FILE | import -q /dev/stdin' \
                   'import -q /dev/stdin < FILE' 'import -q <(cat FILE)' 'cat FILE > fifo & import -q fifo'; do
            command=${way//FILE/$file}
            timeout 60 bash -c "${command/import/\"\$GRIDTIDE\" import -o made.jsonl}"
            sed -i 's/"name":"[^"]*"//' made.jsonl
            echo "$way"
            same_trace expected.jsonl
        done
        rm stdin.link
    done
}

@test "files: run takes a trace and a profile from a pipe, a FIFO and standard input" {
    mkfifo fifo
    cp "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" kineto.json.gz
    for file in trace.jsonl kineto.json.gz; do
        for way in 'run -q - < FILE' 'cat FILE | run -q -' 'cat FILE | run -q /dev/stdin' 'run -q <(cat FILE)' \
                   'cat FILE > fifo & run -q fifo'; do
            command=${way//FILE/$file}
            timeout 60 bash -c "${command/run/\"\$GRIDTIDE\" run -o made.db}"
            "$GRIDTIDE" stats made.db > /dev/null
            rm made.db
        done
    done
    timeout 60 bash -c '"$GRIDTIDE" run -q <(cat trace.jsonl)'
    "$GRIDTIDE" stats input.db > /dev/null
}

@test "files: what is no trace is refused from a pipe as from a file" {
    for bytes in '' 'no trace' '{"gridtide":1' '{}'; do
        for command in 'run -q - -o out/run.db' 'import -q - -o out/t.jsonl'; do
            run timeout 60 bash -c 'printf %s "$1" | "$GRIDTIDE" '"$command" - "$bytes"
            echo "$bytes: $status: $output"
            [ "$status" -eq 1 ]
            [[ "$output" == "gridtide: "* ]]
            [ -z "$(ls -A out)" ]
        done
    done
}

@test "files: a byte-order mark, padding, skipped frames and parts in a row change nothing" {
    "$GRIDTIDE" import -q trace.jsonl -o expected.jsonl
    head -n 1 trace.jsonl > first
    tail -n +2 trace.jsonl > rest
    { printf '\357\273\277'; cat trace.jsonl; } > mark.jsonl
    gzip < mark.jsonl > mark.gz
    { gzip < trace.jsonl; head -c 10000 /dev/zero; } > padded.gz
    { gzip < first; gzip < /dev/null; gzip < rest; } > members.gz
    { gzip < first; head -c 300 /dev/zero; gzip < rest; head -c 1 /dev/zero; } > padded-members.gz
    files="mark.jsonl mark.gz padded.gz members.gz padded-members.gz"
    if command -v zstd > /dev/null; then
        { printf '\120\052\115\030\004\000\000\000abcd'; zstd -q < trace.jsonl; } > skipped.zst
        { printf '\137\052\115\030\000\000\000\000'; zstd -q < trace.jsonl; } > skipped15.zst
        { zstd -q < first; printf '\120\052\115\030\001\000\000\000x'; zstd -q < rest; } > frames.zst
        files="$files skipped.zst skipped15.zst frames.zst"
    fi
    for file in $files; do
        "$GRIDTIDE" import -q "$file" -o made.jsonl
        sed -i "s/\"name\":\"[^\"]*\"/\"name\":\"trace\"/" made.jsonl expected.jsonl
        same_trace expected.jsonl
    done
    { gzip < trace.jsonl; echo rubbish; } > rubbish.gz
    run "$GRIDTIDE" import -q rubbish.gz -o made.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"rubbish.gz: broken gzip data at byte "* ]]
    { printf '\357\273\277'; gunzip -c "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz"; } > mark.json
    "$GRIDTIDE" import -q mark.json -o made.jsonl
    { printf '\357\273\277'; cat "$GRIDTIDE_SOURCE/sim/devices/toy.ini"; } > mark.ini
    "$GRIDTIDE" devices mark.ini > /dev/null
}

@test "names that SQLite keeps for itself beside the store that is read are refused" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/overlap-4-streams.jsonl" -o beside.db
    for ending in journal wal shm; do
        run "$GRIDTIDE" export csv beside.db -o "beside.db-$ending"
        [ "$status" -eq 1 ]
        [[ $output == *"SQLite keeps for itself"* ]]
        [ ! -e "beside.db-$ending" ]
    done
}

@test "words of the command line that would steer a terminal are shown as escapes" {
    word=$(printf 'x\342\200\256\033[31m')
    for arguments in "$word" "run --$word" "import $word file"; do
        # shellcheck disable=SC2086 # words of a command line
        run "$GRIDTIDE" $arguments
        [ "$status" -eq 2 ]
        [[ $output == *'\u202e'* && $output != *$'\033'* ]] || { printf '%s\n' "$output" | cat -v; false; }
    done
}
