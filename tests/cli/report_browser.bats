# gridtide report: the timeline that can be zoomed, and pages on a screen, in a browser.

load report_helpers
load figures_helpers

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

@test "the timeline has rows for ranges and calls of threads, for streams of both runs, and each name once" {
    as_released # a page is the same whoever wrote it, and a browser is slow
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

@test "the timeline zooms, moves, is searched and explains operations, by mouse, touch and keys" {
    as_released # a page is the same whoever wrote it, and a browser is slow
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
        grep -q '^search:nosuchname .* count=no match' said
        [ "$(view_of key:=)" != "$(view_of drag:250:330)" ]
        [ $(($(span_of key:=) - $(span_of drag:250:330))) -le 2 ]
        [ "$(span_of pinch:250:340)" -lt "$(span_of key:=)" ]
        grep -q '^key:n .* tip=.*simulated.*waited .*released by ' said
        [ "$(sed -n 's/^width //p' said)" -le "$width" ]
    done
}

@test "hostile names run no script in a browser" {
    as_released # a page is the same whoever wrote it, and a browser is slow
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

@test "no page is wider than a phone" {
    as_released # a page is the same whoever wrote it, and a browser is slow
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
