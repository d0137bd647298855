# gridtide report: names that mean harm, and such as are alike.

load report_helpers

@test "names are text: not commands, not markup" {
    need_sqlite
    recorded
    cat > names.sql <<'SQL'
UPDATE kernel SET name = '";system("touch harm");`touch harm`';
UPDATE stream SET name = '$(touch harm)</g>';
UPDATE trace SET name = '</title><script>alert(1)</script>';
UPDATE run SET options = '<img src=x onerror=alert(1)> @a{b}^c_d %s';
UPDATE call SET name = '<script>';
INSERT INTO warning SELECT trace_id, 'odd', 1, '<script>' FROM trace;
SQL
    sqlite3 run.db < names.sql
    run "$GRIDTIDE" report -q run.db -o out
    [ "$status" -eq 0 ]
    [ -z "$(find . -name harm)" ]
    only_own_scripts out/index.html
    run grep -lE '<script>alert|<img src=x' out/index.html out/timeline.svg
    [ -z "$output" ]
    live_data out/index.html > live.json
    run grep -c '[<>&]' live.json
    [ "$output" = 0 ]
    if command -v jq > /dev/null; then
        [ "$(jq -r '.names[]' live.json | grep -c 'system("touch harm");')" -gt 0 ]
        jq -r '.rows[].title' live.json | grep -q '[$](touch harm)</g>'
    fi
    grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' out/index.html
    grep -q 'system(.*touch harm.*`touch harm`' out/timeline.svg
    grep -q '[$](touch harm)&lt;/g>' out/timeline.svg
}

@test "names of many traces are text too" {
    suite 4
    sqlite3 run.db "UPDATE trace SET name = '</title><script>alert(' || trace_id % 2 || ')</script>/\"; system(\"touch harm\")'
        || char(8238) || char(10) || trace_id;"
    "$GRIDTIDE" report -q run.db -o out
    [ -z "$(find . -name harm)" ]
    only_own_scripts out/trace-*.html
    run grep -lE '<script' out/index.html out/*.svg
    [ -z "$output" ]
    run grep -l "$(printf '\xe2\x80\xae')" out/*.html out/*.svg
    [ -z "$output" ]
    [ "$(grep -c 'href="trace-[0-9].html"' out/index.html)" -eq 4 ]
}

@test "bytes that are no UTF-8 and other odd names do no harm" {
    need_sqlite
    recorded
    for names in "CAST(x'fffe80c3' AS TEXT);'\"'" "'\\';'#'" "'NaN';''" "char(8238)||'x';hex(zeroblob(20000))" \
            "'a'||char(10)||'b';char(10)||'c'"; do
        sqlite3 run.db "UPDATE kernel SET name = ${names%;*}; UPDATE stream SET name = ${names#*;};"
        run "$GRIDTIDE" report -q run.db -o out
        [ "$status" -eq 0 ]
        iconv -f UTF-8 -t UTF-8 out/index.html out/*.svg > /dev/null
    done
}

@test "names that differ stay different, and none is cut without an ellipsis" {
    need_sqlite
    { echo '{"gridtide":1}'
      for kernel in $(seq 500); do
          echo "{\"kernel\":\"void ns$kernel::sm90_gemm_$(printf 'x%.0s' $(seq 100))_tile${kernel}_$(printf 'y%.0s' $(seq 100))(float*)\",\"grid\":1,\"block\":32,\"duration_us\":$kernel}"
      done
      for kernel in $(seq 500); do
          echo "{\"call\":\"launch\",\"kernel\":\"void ns$kernel::sm90_gemm_$(printf 'x%.0s' $(seq 100))_tile${kernel}_$(printf 'y%.0s' $(seq 100))(float*)\"}"
      done
    } > many.jsonl
    "$GRIDTIDE" run -q many.jsonl -o run.db --blocks off
    "$GRIDTIDE" report -q run.db -o out
    sed -n '/<section id="kernels"/,/<\/section>/p' out/index.html | grep -o '<th scope="row"[^>]*>[^<]*' | sed 's/.*>//' > names
    [ "$(wc -l < names)" -eq 40 ]
    [ "$(sort -u names | wc -l)" -eq 40 ]
    [ "$(grep -c … names)" -eq 40 ]
    grep -q '460 more are not listed' out/index.html
    [ "$(sed '/<div id="live"/,/^<figure>/d' out/index.html | wc -c)" -lt 100000 ]
}
