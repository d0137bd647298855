# gridtide report: the folder, what is in it, what it refuses, and names that mean harm.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
}

# A recorded sample and its simulation; a hand-written one, without blocks unless asked for (quicker to draw).
recorded() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-4.json.gz" -o run.db --blocks "${1-off}"
}

written() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/overlap-4-streams.jsonl" -o run.db --blocks off
}

need_sqlite() {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

# A page's scripts are the two that it brings: the timeline's data and what shows them.
only_own_scripts() {
    for page in "$@"; do
        [ "$(grep -o '<script[^>]*>' "$page" | tr -d '\n')" = '<script type="application/json" id="live-data"><script>' ]
        [ "$(grep -c '</script' "$page")" -eq 2 ]
    done
}

# The data of the timeline that can be zoomed.
live_data() {
    sed -n '/id="live-data">/,/^<\/script>/p' "$1" | sed '1d;$d'
}

nothing_beside() {
    run find . -name '.gridtide-report-*'
    [ -z "$output" ]
}

@test "a report holds a page and every figure twice, and nothing else" {
    recorded on
    run "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 0 ]
    [ "$output" = "out/index.html" ]
    for figure in timeline sms warps copies errors; do
        [ "$(head -c 5 "out/$figure.svg")" = "<?xml" ]
        [ "$(head -c 4 "out/$figure.png" | tail -c 3)" = "PNG" ]
        [ "$(stat -c %s "out/$figure.png")" -gt 2000 ]
        grep -q "src=\"$figure.svg\"" out/index.html
        grep -q "href=\"$figure.png\"" out/index.html
    done
    [ "$(find out | wc -l)" -eq 12 ]
    nothing_beside
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

@test "the page opens with the answer and refers to nothing outside" {
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

@test "the same store gives the same bytes" {
    recorded on
    "$GRIDTIDE" report -q run.db -o one
    "$GRIDTIDE" report -q run.db -o two
    diff -r one two
}

@test "a trace without times gets the simulated part alone" {
    written
    "$GRIDTIDE" report -q run.db -o out
    [ -s out/timeline.svg ]
    [ ! -e out/errors.svg ]
    grep -q 'The trace recorded no times' out/index.html
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
    grep -q 'There is nothing' out/index.html
}

@test "a former report is replaced" {
    recorded
    "$GRIDTIDE" report -q run.db -o out
    written
    "$GRIDTIDE" report -q run.db -o out/
    [ ! -e out/errors.svg ]
    grep -q 'The trace recorded no times' out/index.html
    nothing_beside
}

@test "an empty folder is filled" {
    written
    mkdir out
    "$GRIDTIDE" report -q run.db -o out
    [ -s out/index.html ]
}

@test "anything else that is there is refused and left alone" {
    written
    mkdir mine
    echo precious > mine/index.html
    run "$GRIDTIDE" report run.db -o mine
    [ "$status" -eq 1 ]
    [[ "$output" == *"mine: exists and is no Gridtide report"* ]]
    [ "$(cat mine/index.html)" = precious ]

    "$GRIDTIDE" report -q run.db -o out
    echo precious > out/notes.txt
    run "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"notes.txt"* ]]
    [ "$(cat out/notes.txt)" = precious ]

    echo precious > file
    run "$GRIDTIDE" report run.db -o file
    [ "$status" -eq 1 ]
    [ "$(cat file)" = precious ]

    for place in . .. / ''; do
        run "$GRIDTIDE" report run.db -o "$place"
        [ "$status" -eq 1 ]
    done
    run "$GRIDTIDE" report run.db -o no/such/place
    [ "$status" -eq 1 ]
    [[ "$output" == *"the folder above it does not exist"* ]]
    nothing_beside
}

@test "without gnuplot it says what to install and leaves nothing" {
    written
    mkdir empty
    run env PATH="$PWD/empty" "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"install gnuplot-nox"* ]]
    [ ! -e out ]
    nothing_beside
}

@test "a gnuplot that fails is a failure with its own words" {
    written
    mkdir bin
    printf '#!/bin/sh\necho "no such terminal" >&2\nexit 3\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -eq 1 ]
    [[ "$output" == *"no such terminal"* ]]
    [ ! -e out ]
    nothing_beside
}

@test "an end by a signal leaves nothing" {
    written
    mkdir bin
    printf '#!/bin/sh\nkill -TERM $PPID\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -ne 0 ]
    [ ! -e out ]
    nothing_beside
}

@test "what a killed report left is swept away, what a living one fills is not" {
    written
    mkdir bin
    printf '#!/bin/sh\nkill -KILL $PPID\n' > bin/gnuplot
    chmod +x bin/gnuplot
    run env PATH="$PWD/bin:$PATH" "$GRIDTIDE" report run.db -o out
    [ "$status" -ne 0 ]
    left=$(echo .gridtide-report-??????)
    [ -d "$left/work" ]
    "$GRIDTIDE" report -q run.db -o young                  # it might still be at work
    [ -d "$left" ]
    touch -d '2 minutes ago' "$left"
    mkdir .gridtide-report-myown1
    echo mine > .gridtide-report-myown1/notes
    touch -d '2 minutes ago' .gridtide-report-myown1
    if command -v flock > /dev/null; then
        mkdir .gridtide-report-living
        exec 9< .gridtide-report-living
        flock 9
        touch -d '2 minutes ago' .gridtide-report-living
    fi
    "$GRIDTIDE" report -q run.db -o out 9<&-
    [ ! -e "$left" ]
    [ -e .gridtide-report-myown1/notes ]
    if command -v flock > /dev/null; then
        [ -d .gridtide-report-living ]
        exec 9<&-
    fi
    "$GRIDTIDE" report -q run.db -o out
    [ ! -e .gridtide-report-living ]
}

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
    grep -q 'too many operations' out/index.html
    for picture in out/*.svg out/*.png; do
        [ "$(stat -c %s "$picture")" -lt 1000000 ]
    done
    [ "$(stat -c %s out/index.html)" -lt 4000000 ]         # 40 bytes an operation, in both runs
}

# A store of the first traces of a recorded suite.
suite() {
    need_sqlite
    cp "$GRIDTIDE_SOURCE/validate/recordings/h200.db" run.db
    chmod u+w run.db
    sqlite3 run.db "PRAGMA foreign_keys = OFF; DELETE FROM run WHERE trace_id > ${1-6};"
}

# A what-if: the run that is there, and a change of it that takes twice as long.
changed() {
    need_sqlite
    sqlite3 run.db "PRAGMA foreign_keys = OFF; CREATE TEMP TABLE last AS SELECT max(run_id) AS id FROM run;
        INSERT INTO run SELECT id + 1, trace_id, device_id, kind, options || ' set=chip.sms=66', 0, 1 FROM run, last
            WHERE run_id = id;
        INSERT INTO run_op SELECT id + 1, op_no, submit_ps, 2 * start_ps, 2 * end_ps, wait_host_ps, wait_stream_ps,
            wait_event_ps, wait_queue_ps, wait_engine_ps, wait_resource_ps, cause_call, cause_op FROM run_op, last
            WHERE run_id = id;"
}

# Words that say something was measured, in the page and its pictures' alternative texts and captions.
measured_words() {
    sed '/<style>/,/<\/style>/d; /<h2>Notes/,/<\/section>/d' "$1" | grep -iE '(was|were|what was|, )measured|measured (above|upwards|come)|profiler.s samples' || true
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
    grep -q 'cycles are <strong>[0-9.]*%</strong> off in the mean (MAPE)' out/index.html
    grep -q '>Cycles, measured<.*>Cycles, simulated<.*>Error<.*>Bound by<' out/index.html
    order=$(grep -o '<section id="[a-z-]*"' out/index.html | tr -d '\n')
    [[ "$order" == '<section id="why"<section id="next"<section id="kernel-cycles"<section id="cycles"<section id="roofline"<section id="stalls"<section id="timeline"'* ]]
    # what bounds the cycles, and advice on the launches with most of them
    grep -q 'What limits them' out/index.html
    grep -q '% of all cycles: ' out/index.html
    run grep -cE 'No copy ran|recorded no times' out/index.html
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
    grep -q 'this is a change, not an error. The trace recorded' out/index.html
    grep -q '>Before<.*>After<.*>Change<' out/index.html
    grep -q 'Each stream has two rows: before above, after below' out/index.html
    grep -q '>Mean, before<' out/index.html
    grep -q '>before<' out/timeline.svg
    grep -q '>after<' out/timeline.svg
    run grep -hE 'measured (above|upwards)|Makespan error|>measured<' out/index.html out/timeline.svg out/copies.svg
    [ -z "$output" ]
    [ ! -e out/errors.svg ]
}

@test "the first screen says what limits the run, what may help, and what to do next" {
    cp "$GRIDTIDE_SOURCE/traces/samples/pytorch-training-step.json.gz" "a step's.json.gz"
    "$GRIDTIDE" run -q "a step's.json.gz" -o run.db --blocks off
    "$GRIDTIDE" report -q run.db -o out
    order=$(grep -o '<section [a-z]*="[a-z-]*"' out/index.html | head -n 4 | tr -d '\n')
    [ "$order" = '<section class="answer"<section id="why"<section id="next"<section id="timeline"' ]
    bound=$("$GRIDTIDE" explain run.db --format csv | head -n 2 | tail -n 1)
    [[ "$bound" == *host* ]]
    grep -q '<strong>The host limits this run</strong>' out/index.html
    asked=$(grep -o 'gridtide whatif [^<]* --change graph' out/index.html | sed "s/&#39;/'/g; s/&amp;/\&/g; s/^gridtide//" | head -n 1)
    [ -n "$asked" ]
    eval "'$GRIDTIDE' $asked" > /dev/null
    for command in 'explain run.db' 'export perfetto run.db -o OUT.pftrace'; do
        grep -q "<code>gridtide $command</code>" out/index.html
    done
    "$GRIDTIDE" export perfetto run.db -o OUT.pftrace
}

@test "a replay that is far off says so before it says what to change" {
    need_sqlite
    recorded
    sqlite3 run.db "UPDATE run_op SET end_ps = end_ps + 1000000000 WHERE run_id = 2; DELETE FROM comparison;"
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'answers about changes mean little' out/index.html
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

@test "the timeline has rows for ranges and calls of threads, for streams of both runs, and each name once" {
    command -v jq > /dev/null || skip "jq is not installed"
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/pairs/mlp-small.eager.json.gz" -o run.db --blocks off
    "$GRIDTIDE" report -q run.db -o out
    live_data out/index.html > live.json
    [ "$(jq -r '[.rows[].kind] | unique | join(" ")' live.json)" = "call range stream" ]
    [ "$(jq -r '[.rows[] | select(.kind == "stream") | .side] | unique | length' live.json)" = 2 ]
    [ "$(jq '[.names, .kinds / "", .colours | length] | unique | length' live.json)" = 1 ]
    jq -e '(.names | length) == ([range(.names | length) as $i | .names[$i] + .kinds[$i:$i + 1]] | unique | length)' live.json
    operations=$(jq '[.rows[] | select(.kind == "stream" and .side == 1) | .count] | add' live.json)
    [ "$operations" -eq "$("$GRIDTIDE" stats run.db --format json | jq '[.. | objects | .operations? // empty | numbers] | max')" ]
    sed 's/"boxes":"[A-Za-z0-9_-]*"//' live.json > without
    run grep -c '"boxes"' without
    [ "$output" = 0 ]
    "$GRIDTIDE" report -q run.db --step 1 -o part
    live_data part/index.html > part.json
    [ "$(jq '[.rows[].count] | add' part.json)" -lt "$(jq '[.rows[].count] | add' live.json)" ]
}

# Acts on the page in a browser: lines "ACT view=FROM TO count=... tip=...", errors of the script as "error".
act() {
    local page=$1 width=$2
    shift 2
    printf '%s\n' "$@" | sed "s/.*/'&',/" > acts.js
    cat > act.html <<HTML
<iframe id="page" style="width: ${width}px; height: 900px; border: 0"></iframe><pre id="said"></pre>
<script>
const page = document.getElementById('page'), said = [], acts = [
$(cat acts.js)
];
page.onload = async () => {
    const inside = page.contentWindow, of = page.contentDocument;
    const part = (name) => of.querySelector('[data-part=' + name + ']');
    inside.onerror = (text) => said.push('error ' + text);
    said.push('live ' + !of.getElementById('live').hidden + ' still ' + !of.getElementById('still').hidden);
    for (const act of acts) {
        const [what, name, x] = act.split(':'), r = part('canvas').getBoundingClientRect();
        if (what === 'search') {
            part('search').value = name;
            part('search').dispatchEvent(new Event('input'));
        } else if (what === 'click') {
            part(name).click();
        } else if (what === 'key') {
            part('canvas').dispatchEvent(new inside.KeyboardEvent('keydown', { key: name, bubbles: true }));
        } else if (what === 'drag' || what === 'pinch') {
            const send = (type, id, at) => part('canvas').dispatchEvent(new inside.PointerEvent(type,
                { pointerId: id, clientX: r.left + at, clientY: r.top + 60, bubbles: true }));
            part('canvas').setPointerCapture = () => {};
            send('pointerdown', 1, +name);
            if (what === 'pinch') send('pointerdown', 2, +name + 20);
            send('pointermove', what === 'pinch' ? 2 : 1, +x);
            send('pointerup', 1, +name);
            if (what === 'pinch') send('pointerup', 2, +x);
        }
        await new Promise((done) => setTimeout(done, 50));
        said.push(act + ' view=' + part('frame').dataset.view + ' count=' + part('count').textContent + ' tip=' +
            (part('tip').hidden ? '' : part('tip').textContent));
    }
    said.push('width ' + of.documentElement.scrollWidth);
    document.getElementById('said').textContent = said.join('\\n');
};
page.src = '$page';
</script>
HTML
    "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=20000 \
        --user-data-dir="$PWD/browser" --dump-dom "file://$PWD/act.html" 2> /dev/null | sed -n '/<pre id="said">/,/<\/pre>/p' |
        sed 's/.*<pre id="said">//; s/<\/pre>.*//'
}

view_of() {
    sed -n "s/^$1 view=\(-*[0-9]*\) \(-*[0-9]*\) .*/\1 \2/p" said | head -n 1
}

span_of() {
    view_of "$1" | awk '{ print $2 - $1 }'
}

@test "the timeline zooms, moves, is searched and explains operations, by mouse, touch and keys" {
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no browser"
    recorded on
    "$GRIDTIDE" report -q run.db -o out
    for width in 1280 360; do
        act out/index.html $width key:Home click:in click:all key:+ key:ArrowRight click:all search:SCALE click:next \
            click:next search:nosuchname search: key:0 key:= drag:250:330 pinch:250:340 key:n key:p > said
        cat said
        [ "$(head -n 1 said)" = "live true still false" ]
        run grep -c '^error' said
        [ "$output" = 0 ]
        [ $((2 * $(span_of click:in))) -le $(($(span_of key:Home) + 4)) ]
        [ "$(span_of click:all)" -eq "$(span_of key:Home)" ]
        grep -q '^search:SCALE .* count=[0-9]* found' said
        grep -q '^click:next .* count=1 of [0-9]* tip=scale.*starts at .*takes ' said
        grep -q '^click:next .* count=2 of [0-9]* tip=scale' said
        grep -q '^search:nosuchname .* count=nothing found' said
        [ "$(view_of key:=)" != "$(view_of drag:250:330)" ]
        [ $(($(span_of key:=) - $(span_of drag:250:330))) -le 2 ]
        [ "$(span_of pinch:250:340)" -lt "$(span_of key:=)" ]
        grep -q '^key:n .* tip=.*simulated.*waited .*let start by ' said
        [ "$(sed -n 's/^width //p' said)" -le "$width" ]
    done
}

@test "hostile names run no script in a browser" {
    need_sqlite
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no browser"
    recorded
    sqlite3 run.db "UPDATE kernel SET name = '</script><script>document.title=''harm''</script><img src=x onerror=parent.harm()>' || kernel_no;
        UPDATE stream SET name = '<!--<script>' || stream_no; UPDATE call SET name = '\u003c/script>\\\"' || char(8232);"
    "$GRIDTIDE" report -q run.db -o out
    only_own_scripts out/index.html
    act out/index.html 1280 key:n search:onerror click:next > said
    cat said
    [ "$(head -n 1 said)" = "live true still false" ]
    grep -q '^click:next .* count=1 of .* tip=.*onerror=parent' said
}

@test "nothing is said to be measured where nothing was" {
    written
    "$GRIDTIDE" report -q run.db -o out
    run measured_words out/index.html
    [ -z "$output" ]
    changed
    "$GRIDTIDE" report -q run.db -o out
    grep -q 'nothing says how near' out/index.html
    run measured_words out/index.html
    [ -z "$output" ]
    run grep -l measured out/*.svg
    [ -z "$output" ]
}

# What must hold for a page to be no wider than its screen, where no browser is there to ask.
check_structure() {
    grep -q 'name="viewport" content="width=device-width' "$1"
    [ "$(grep -c '<table' "$1")" -eq "$(grep -c 'class="scroll"[^>]*><table' "$1")" ]
    [ "$(grep -c '<img ' "$1")" -eq "$(grep -c '<a class="card" [^>]*><img ' "$1")" ]
    grep -q '^\.card img {[^}]*width: 100%' "$1"
    grep -q '^\.scroll {[^}]*overflow: auto' "$1"
    sed -n '/^body {/,/^}/p' "$1" | grep -q 'overflow-wrap: anywhere'
    run grep -E '<pre|white-space: pre|min-width: [2-9][0-9]rem;' "$1"
    [ -z "$output" ]
}

# The width of each page's contents on a screen of 360 CSS pixels.
check_width() {
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || return 0
    for page in "$@"; do
        cat > wide.html <<HTML
<iframe id="page" src="$page" style="width: 360px; height: 800px; border: 0"></iframe>
<script>onload = () => document.body.append('width=' +
    document.getElementById('page').contentDocument.documentElement.scrollWidth + ';')</script>
HTML
        width=$("$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="$PWD/browser" \
            --dump-dom "file://$PWD/wide.html" 2> /dev/null | sed -n 's/.*width=\([0-9]*\);.*/\1/p')
        echo "$page: $width"
        [ -n "$width" ]
        [ "$width" -le 360 ]
    done
}

@test "no page is wider than a phone" {
    need_sqlite
    suite 2
    "$GRIDTIDE" report -q run.db -o suite
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/profiles/samples.jsonl.zst" -o run.db
    "$GRIDTIDE" report -q run.db -o kernels
    recorded
    long=$(printf 'k%.0s' $(seq 300))
    sqlite3 run.db "UPDATE kernel SET name = '$long' || kernel_no; UPDATE trace SET name = '$long';
        UPDATE stream SET name = '$long' || stream_no; UPDATE run SET options = '$long'; UPDATE device SET name = '$long';
        INSERT INTO warning SELECT trace_id, 'odd', 1, '$long' FROM trace;"
    "$GRIDTIDE" report -q run.db -o long
    changed
    "$GRIDTIDE" report -q run.db -o change
    for page in suite/index.html suite/trace-1.html kernels/index.html long/index.html change/index.html; do
        grep -q 'id="next"' $page
        check_structure $page
    done
    check_width suite/index.html suite/trace-1.html kernels/index.html long/index.html change/index.html
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

@test "what is no store is refused" {
    echo nonsense > bad.db
    run "$GRIDTIDE" report bad.db -o out
    [ "$status" -eq 1 ]
    [ ! -e out ]
    run "$GRIDTIDE" report missing.db -o out
    [ "$status" -eq 1 ]
}

@test "wrong usage" {
    run "$GRIDTIDE" report
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" report run.db
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" report a b -o out
    [ "$status" -eq 2 ]
}
