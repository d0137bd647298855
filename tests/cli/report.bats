# gridtide report: what the pages say of each kind of store.

load report_helpers

# Words that say something was measured, in the page and its pictures' alternative texts and captions.
measured_words() {
    sed '/<style>/,/<\/style>/d; /<h2>Notes/,/<\/section>/d' "$1" | grep -iE '(was|were|what was|, )measured|measured (above|upwards|come)|profiler.s samples' || true
}

@test "more SMs than an image has lines" {
    { echo '{"gridtide":1,"device":"toy"}'
      echo '{"kernel":"k","grid":2000,"block":32,"block_us":5}'
      for gpu in $(seq 0 31); do
          echo '{"stream":"s'$gpu'","gpu":'$gpu'}'
          echo '{"call":"launch","kernel":"k","stream":"s'$gpu'"}'
      done
    } > many.jsonl
    "$GRIDTIDE" run -q many.jsonl --set chip.sms=1024 -o run.db
    "$GRIDTIDE" report -q run.db -o out
    [ "$(head -c 5 out/sms.svg)" = "<?xml" ]
    grep -q 'Heat map of 32768 SMs' out/index.html
}

@test "the page has the numbers and refers to nothing outside" {
    recorded
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'Simulated on .*measured ' out/index.html
    grep -q 'The GPU was busy [0-9.]*% of the time' out/index.html
    run grep -nE '(src|href)="[^"#]*:|//|<script [^>]*src|@import|url\(' out/index.html
    [ -z "$output" ]
    run grep -nE 'fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|innerHTML|document\.write|eval\(' out/index.html
    [ -z "$output" ]
    grep -q "Content-Security-Policy.*connect-src 'none'" out/index.html
    run grep -hoE "https?://[^\"' <]*" out/*.svg
    [ -z "$(echo "$output" | grep -v '^http://www.w3.org/')" ]
    [ "$(grep -c '<img ' out/index.html)" -eq "$(grep -c '<img .* alt="[^"]' out/index.html)" ]
}

@test "the numbers on the page are those that compare gives" {
    recorded
    error=$("$GRIDTIDE" compare run.db --format json | sed -n 's/.*"error_pct": *\([-0-9.]*\).*/\1/p' | head -n 1)
    [ -n "$error" ]
    "$GRIDTIDE" report -q run.db -o out
    shown=$(sed -n 's/.*measured [^<]*<strong>\([^%]*\)%.*/\1/p' out/index.html | sed 's/−/-/; s/+//; s/±//')
    awk -v a="$error" -v b="$shown" 'BEGIN { d = a - b; exit !(d < 0.51 && d > -0.51) }'
}

@test "a trace without times gets the simulated part alone" {
    written
    "$GRIDTIDE" report -q run.db -o out
    [ -s out/timeline.svg ]
    [ ! -e out/errors.svg ]
    grep -q 'The trace has no recorded times' out/index.html
    run grep -c measured out/timeline.svg
    [ "$output" = 0 ]
}

@test "a run without blocks says why figures are missing" {
    written
    "$GRIDTIDE" report -q run.db -o out
    [ ! -e out/sms.svg ]
    grep -q 'no block residency' out/index.html
}

@test "a run without operations gets a short page" {
    need_sqlite
    written
    sqlite3 run.db 'PRAGMA foreign_keys = OFF; DELETE FROM run_op; DELETE FROM op; DELETE FROM run_bin;
        DELETE FROM run_block;'
    run "$GRIDTIDE" report -q run.db -o out
    [ "$status" -eq 0 ]
    [ "$(ls out)" = index.html ]
    grep -q 'there is nothing to draw' out/index.html
}

@test "100,000 operations are binned: quick, and no picture over 1 MB" {
    need_sqlite
    recorded
    sqlite3 run.db "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT max(op_no) + 1 FROM op UNION ALL
            SELECT i + 1 FROM n WHERE i < 100099) SELECT i FROM n;
        INSERT INTO op SELECT t.trace_id, n.i, 0, CASE n.i % 5 WHEN 0 THEN 'copy' ELSE 'kernel' END, n.i % 4,
            CASE n.i % 5 WHEN 0 THEN NULL ELSE 0 END, CASE n.i % 5 WHEN 0 THEN 'd2h' END,
            CASE n.i % 5 WHEN 0 THEN 'pinned' END, CASE n.i % 5 WHEN 0 THEN 65536 END FROM trace t, n;
        INSERT INTO run_op SELECT r.run_id, n.i, 0, 4000000000 + (n.i / 4) * 12000000,
            4000000000 + (n.i / 4) * 12000000 + 9000000, 0, 0, 0, 0, 0, 0, NULL, NULL FROM run r, n;"
    run timeout 30 "$GRIDTIDE" report -q run.db -o out
    [ "$status" -eq 0 ]
    grep -q 'Too many operations' out/index.html
    for picture in out/*.svg out/*.png; do
        [ "$(stat -c %s "$picture")" -lt 1000000 ]
    done
    [ "$(stat -c %s out/index.html)" -lt 4000000 ]         # 40 bytes an operation, in both runs
}

@test "a store of many traces opens with their errors, worst first, and a page for each" {
    suite 6
    "$GRIDTIDE" report -q run.db -o out
    grep -q '<h1>6 traces</h1>' out/index.html
    errors=$(sed -n 's/.*href="trace-[0-9]*.html">.*<\/th><td>[−+±]\([0-9.]*\)%<.*/\1/p' out/index.html)
    [ "$(echo "$errors" | wc -l)" -eq 6 ]
    [ "$errors" = "$(echo "$errors" | sort -rn)" ]
    for trace in 1 2 3 4 5 6; do
        grep -q "href=\"trace-$trace.html\"" out/index.html
        grep -q "src=\"trace-$trace.svg\"" out/trace-$trace.html
        grep -q 'href="index.html"' out/trace-$trace.html
        grep -q '; measured ' out/trace-$trace.html
        [ "$(head -c 5 out/trace-$trace.svg)" = "<?xml" ]
    done
    "$GRIDTIDE" report -q run.db -o out                    # what was made is known again
    written
    "$GRIDTIDE" report -q run.db -o out
    [ ! -e out/trace-1.html ]
}

@test "a store of profiled kernels opens with their cycles" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/profiles/samples.jsonl.zst" -o run.db
    "$GRIDTIDE" report -q run.db -o out
    grep -q '(MAPE) is <strong>[0-9.]*%</strong>' out/index.html
    grep -q '>Cycles, measured<.*>Cycles, simulated<.*>Error<.*>Bound by<' out/index.html
    order=$(grep -o '<section id="[a-z-]*"' out/index.html | tr -d '\n')
    [[ "$order" == '<section id="why"<section id="next"<section id="kernel-cycles"<section id="cycles"<section id="roofline"<section id="stalls"<section id="timeline"'* ]]
    # what bounds the cycles, and advice on the launches with most of them
    grep -q 'What limits them' out/index.html
    grep -q '% of all cycles: ' out/index.html
    run grep -cE 'No copy ran|no recorded times' out/index.html
    [ "$output" = 0 ]
    run grep -c measured out/timeline.svg
    [ "$output" = 0 ]
}

@test "a what-if shows before and after, and calls it a change" {
    recorded
    changed
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'With <code>--set chip.sms=66</code>: <strong>[^<]*</strong> instead of <strong>[^<]*</strong>: <strong>+100%' \
        out/index.html
    grep -q 'this is a change, not an error. The recorded time is' out/index.html
    grep -q '>Before<.*>After<.*>Change<' out/index.html
    grep -q 'Each stream has two rows: before above, after below' out/index.html
    grep -q '>Mean, before<' out/index.html
    grep -q '>before<' out/timeline.svg
    grep -q '>after<' out/timeline.svg
    run grep -hE 'measured (above|upwards)|Makespan error|>measured<' out/index.html out/timeline.svg out/copies.svg
    [ -z "$output" ]
    [ ! -e out/errors.svg ]
}

@test "the first screen says what bounds the run, what may help, and what to do next" {
    command -v jq > /dev/null || skip "no jq"
    cp "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" "a step's.json.gz"
    "$GRIDTIDE" run -q "a step's.json.gz" -o run.db --blocks off
    "$GRIDTIDE" report -q run.db -o out
    order=$(grep -o '<section id="[a-z-]*"' out/index.html | grep -E 'why|next|timeline|accuracy' | tr -d '\n')
    [ "$order" = '<section id="why"<section id="next"<section id="timeline"<section id="accuracy"' ]
    # the same summary as explain's
    "$GRIDTIDE" explain run.db --format json > explain.json
    bound=$(jq -r .summary.bound_by explain.json)
    grep -q "Bound by <strong>$bound</strong>" out/index.html
    gain=$(printf %.1f "$(jq -r '.advised[0].gain_pct' explain.json)")
    grep -q "redicted: $gain% shorter" out/index.html
    [ "$(sed -n '/<table id="breakdown"/,/<\/table>/p' out/index.html | grep -c '<tr><th scope="row">')" -ge 5 ]
    asked=$(grep -o 'gridtide whatif [^<]* --change graph' out/index.html | sed "s/&#39;/'/g; s/&amp;/\&/g; s/^gridtide//" | head -n 1)
    [ -n "$asked" ]
    eval "'$GRIDTIDE' $asked" > /dev/null
    for command in 'explain run.db --full' 'export perfetto run.db -o OUT.pftrace'; do
        grep -q "<code>gridtide $command</code>" out/index.html
    done
    "$GRIDTIDE" export perfetto run.db -o OUT.pftrace
}

@test "a replay that is far off says so before it says what to change" {
    need_sqlite
    recorded
    sqlite3 run.db "UPDATE run_op SET end_ps = end_ps + 1000000000 WHERE run_id = 2; DELETE FROM comparison;"
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'predictions of changes are unreliable' out/index.html
    grep -q '<code>gridtide compare run.db</code>' out/index.html
}

@test "kept what-ifs: all of them on one scale, the best before and after" {
    "$GRIDTIDE" whatif -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-prefetch.json.gz" --all --blocks off -o run.db --format csv > answers
    "$GRIDTIDE" report -q run.db -o out
    best=$(sed -n 's/.*<p class="headline">With <code>\([^<]*\)<.*/\1/p' out/index.html)
    grep -q "^$best,\|,$best,\|^\"$best\"" answers
    rows=$(sed -n '/<section id="scenarios"/,/<\/section>/p' out/index.html | grep -c '<td class="bar">')
    [ "$rows" -gt 2 ]
    # the grade of each, and what the one that is shown assumes, as whatif says them
    need_sqlite
    trust=$(sqlite3 run.db "select trust from answer limit 1")
    grep -q "Trust in this answer: <strong>$trust</strong>" out/index.html
    grep -qE "^(changes,)?\"?$best\"?,.*,$trust," answers
    [ "$(sed -n '/<section id="scenarios"/,/<\/section>/p' out/index.html | grep -cE '<td>(high|medium|low)</td>')" -eq "$((rows - 1))" ]
    [ "$(sed -n '/id="assumptions"/,/<\/ul>/p' out/index.html | grep -c '<li>')" -eq \
      "$(sqlite3 run.db "select count(*) from run_assumption where run_id = (select run_id from answer limit 1)")" ]
    grep -q '>before<' out/timeline.svg
    grep -q '>after<' out/timeline.svg
    live_data out/index.html | grep -q '"sides":\["before","after"\]'
    run grep -cE 'Makespan error|errors.svg' out/index.html
    [ "$output" = 0 ]
}

@test "nothing is said to be measured where nothing was" {
    written
    "$GRIDTIDE" report -q run.db -o out
    run measured_words out/index.html
    [ -z "$output" ]
    changed
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'the error of the run without the change is unknown' out/index.html
    run measured_words out/index.html
    [ -z "$output" ]
    run grep -l measured out/*.svg
    [ -z "$output" ]
}

@test "one operation alone has a whole report" {
    { echo '{"gridtide":1}'
      echo '{"kernel":"k","grid":1,"block":32,"duration_us":5}'
      echo '{"call":"launch","kernel":"k"}'
    } > one.jsonl
    "$GRIDTIDE" run -q one.jsonl -o run.db
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'Timeline of 1 stream:' out/index.html
    [ "$(head -c 5 out/sms.svg)" = "<?xml" ]
    run grep -iE 'nan|inf%|-nan' out/index.html
    [ -z "$output" ]
}
