# Requests that arrive at tenants of a GPU: gridtide serve.
#
# The toy device: two SMs, calls of 1 us, no latencies and gaps.  A request of tenant a is a kernel that has both SMs for 250 us: its call
# returns at 1, the kernel and with it the wait are over at 251.  One of tenant b is the same in two waves, 501 us.

setup()
{
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    cd "$BATS_TEST_TMPDIR"
    for name in a b; do
        printf '%s\n' "{\"gridtide\":1,\"name\":\"$name\",\"device\":\"toy\"}" \
            "{\"kernel\":\"k\",\"grid\":$([ $name = a ] && echo 2 || echo 4),\"block\":1024,\"block_us\":250}" \
            '{"call":"launch","kernel":"k"}' '{"call":"device_sync"}' > $name.jsonl
    done
    printf 'seconds\n0\n0.0001\n0.002\n' > a.csv
    cat > one.jsonl << 'END'
// One tenant.
{"load":"one","device":"toy"}
{"tenant":"a","trace":"a.jsonl","arrivals":"file","file":"a.csv","deadline_us":300}
END
    cat > two.jsonl << 'END'
{"load":"two","device":"toy","seconds":0.003}
{"tenant":"a","trace":"a.jsonl","arrivals":"file","file":"a.csv","deadline_us":300}
{"tenant":"b","trace":"b.jsonl","class":"best-effort","arrivals":"closed","requests":2}
END
}

requests() # STORE: tenant and end in us of each request, in the order in which they were done
{
    sqlite3 "$1" "SELECT group_concat(tenant_no || ':' || (end_ps / 1000000), ' ') FROM serve_request"
}

@test "serve: requests wait for each other, and are late for it" {
    "$GRIDTIDE" serve -q one.jsonl --noise off -o one.db --format csv | tr -d '\r' > one.csv
    # The second one arrives at 100 and begins at 251.
    [ "$(requests one.db)" = "0:251 0:502 0:2251" ]
    grep -qx 'tenants,a,critical,3,1332.741004,251,251,402,402,402,402,300,1,888.4940027' one.csv
    grep -qx 'late,a,queued,,1,100' one.csv
}

@test "serve: random arrivals as an oracle has them" {
    # Lindley: a request ends 251 us after it arrived, or after the one before it ended.
    for seed in 1 2 3; do
        awk -v seed=$seed 'BEGIN { srand(seed); print "seconds"; for (i = 0; i < 300; i++) printf "%.9f\n", t += rand() * 0.0006 }' > a.csv
        "$GRIDTIDE" serve -q one.jsonl --noise off -o r.db --format csv > /dev/null
        sqlite3 r.db 'SELECT arrival_ps, end_ps FROM serve_request' |
            awk -F'|' '{ end = ($1 > end ? $1 : end) + 251000000; if (end != $2) exit 1 } END { if (NR != 300) exit 1 }'
        rm r.db
    done
}

@test "serve: policies, as worked out by hand" {
    # none: b's two waves and a's kernel take turns by whoever stands first in line.
    # priority: b's first wave is on the SMs when a's second request comes at 251, its second wave after that.
    # gate: b is held until no request of a is there, at 502, and launched in 1 us more.
    # slices: the same, and its second piece is launched 1 us after the first.
    while read -r policy expected; do
        "$GRIDTIDE" serve -q two.jsonl --noise off --policy "${policy//_/ }" -o p.db --format csv > /dev/null
        echo "$policy: $(requests p.db)"
        [ "$(requests p.db)" = "$expected" ]
        rm p.db
    done << 'END'
none 0:251 1:751 0:1001 1:1501 0:2251
fifo 0:251 1:752 0:1003 1:1504 0:2251
priority 0:251 0:751 1:1001 1:1502 0:2251
gate 0:251 0:502 1:1003 1:1504 0:2251
slices_blocks=2 0:251 0:502 1:1004 1:1506 0:2251
END
}

@test "serve: a critical request takes best-effort kernels off the GPU" {
    # b's kernel comes at 503, when a's first two requests are done.  a's third one arrives at 600 and has its kernel there at 601; with
    # priority that waits for b's first wave, until 753.  Reset: 30 us after its arrival b's blocks are gone, a's run from 630 to 880, and b begins
    # anew at 881, two waves.
    printf 'seconds\n0\n0.0001\n0.0006\n' > a.csv
    "$GRIDTIDE" serve -q two.jsonl --noise off --policy gate -o gate.db --format csv > /dev/null
    [ "$(requests gate.db)" = "0:251 0:502 0:1003 1:1253 1:1754" ]
    "$GRIDTIDE" serve -q two.jsonl --noise off --policy "reset us=30" -o reset.db --format csv > /dev/null
    [ "$(requests reset.db)" = "0:251 0:502 0:880 1:1381 1:1882" ]
    # It is done before anything would be reset.
    "$GRIDTIDE" serve -q two.jsonl --noise off --policy "reset us=1000" -o late.db --format csv > /dev/null
    [ "$(requests late.db)" = "0:251 0:502 0:1003 1:1253 1:1754" ]
}

@test "serve: reset takes many equal kernels off at once, those that wait too, and loses none" {
    sed -i 's/"grid":4/"grid":8/' b.jsonl
    printf 'seconds\n0.0001\n' > late.csv
    for tenant in b c d; do
        printf '{"tenant":"%s","trace":"b.jsonl","class":"best-effort","arrivals":"closed","requests":2}\n' $tenant
    done > best.txt
    { echo '{"load":"many","device":"toy","seconds":0.02}'
      echo '{"tenant":"a","trace":"a.jsonl","arrivals":"file","file":"late.csv"}'; cat best.txt; } > many.jsonl
    for grids in 128 2; do
        sed "s/^resident_grids.*/resident_grids = $grids/" "$GRIDTIDE_SOURCE/sim/devices/toy.ini" > few.ini
        "$GRIDTIDE" serve -q many.jsonl --device few.ini --noise off --policy "reset us=20" -o m$grids.db --format csv > /dev/null
        # a has the GPU 20 us after it came, at 120; the others have all of theirs, 6 times 1 ms, one after the other.
        [ "$(sqlite3 m$grids.db "SELECT count(*), min(end_ps) / 1000000 FROM serve_request")" = "7|370" ]
    done
}

@test "serve: sharing by processes: slices, MPS and green contexts" {
    for share in sliced mps mps:50,50 green:1,1; do
        "$GRIDTIDE" serve -q two.jsonl --noise off --share $share -o $share.db --format csv > /dev/null
    done
    # Half of the SMs each: a's kernel takes two waves, 501; b's four, 1001.
    [ "$(requests green:1,1.db)" = "0:501 1:1001 0:1002 1:2002 0:2501" ]
    [ "$(requests mps:50,50.db)" = "$(requests green:1,1.db)" ]
    [ "$(requests sliced.db)" != "$(requests mps.db)" ]
}

@test "serve: workers serve a tenant's requests side by side" {
    sed -i 's/"grid":2/"grid":1/' a.jsonl
    sed 's/"deadline_us":300/"workers":2/' one.jsonl > workers.jsonl
    "$GRIDTIDE" serve -q workers.jsonl --noise off -o w.db --format csv > /dev/null
    [ "$(requests w.db)" = "0:251 0:351 0:2251" ]
}

@test "serve: loads and policies make a grid, the same for the same seed" {
    cat > grid.jsonl << 'END'
{"load":"grid","device":"toy","seconds":0.5,"warm_up":5}
{"tenant":"a","trace":"a.jsonl","load":0.5}
{"tenant":"b","trace":"b.jsonl","class":"best-effort","arrivals":"bursty","per_s":100,"burst":4}
END
    "$GRIDTIDE" serve -q grid.jsonl --policy fifo,gate --load 0.2,0.6 --format csv -o grid.db > first.csv
    "$GRIDTIDE" serve -q grid.jsonl --policy fifo,gate --load 0.2,0.6 --format csv > second.csv
    cmp first.csv second.csv
    [ "$(wc -l < first.csv)" -eq 9 ]
    [ "$(sqlite3 grid.db 'SELECT count(*) FROM serve')" -eq 4 ]
    # Poisson: 0.6 of what it serves alone, 3984 a second, is 1195 in half a second, with a spread of 35; the first five are not counted.
    n=$(sqlite3 grid.db 'SELECT count(*) FROM serve_request WHERE serve_no = 1 AND tenant_no = 0')
    [ "$n" -gt 1050 ] && [ "$n" -lt 1340 ]
}

@test "serve: arrivals of BurstGPT, Azure and Mooncake" {
    printf 'Timestamp,Model,Request tokens\n5,x,10\n5.0005,x,11\n' > burst.csv
    printf 'TIMESTAMP,ContextTokens\n2023-11-16 18:15:46.6805900,374\n2023-11-16 18:15:46.6810900,396\n' > azure.csv
    printf '{"timestamp": 27482, "input_length": 6955}\n{"timestamp": 27482.5, "input_length": 6472}\n' > mooncake.jsonl
    for file in burst.csv azure.csv mooncake.jsonl; do
        sed "s/a\\.csv/$file/" one.jsonl > from.jsonl
        "$GRIDTIDE" serve -q from.jsonl --noise off -o f.db --format csv > /dev/null
        # 500 us apart; of dates a microsecond may be lost in a double.
        [ "$(sqlite3 f.db 'SELECT min(arrival_ps) FROM serve_request')" -eq 0 ]
        gap=$(sqlite3 f.db 'SELECT max(arrival_ps) / 1000000 FROM serve_request')
        [ "$gap" -ge 499 ] && [ "$gap" -le 501 ]
        rm f.db
    done
    printf '{"timestamp":"2023-11-16 18:15:46"}\n{"timestamp":"2023-11-16 18:15:47"}\n' > dates.jsonl
    sed 's/a\.csv/dates.jsonl/' one.jsonl > from.jsonl
    "$GRIDTIDE" serve -q from.jsonl --noise off -o f.db --format csv > /dev/null
    [ "$(sqlite3 f.db 'SELECT max(arrival_ps) FROM serve_request')" -eq 1000000000000 ]
    rm f.db
    sed 's/a\.csv"/burst.csv","speed":2/' one.jsonl > from.jsonl
    "$GRIDTIDE" serve -q from.jsonl --noise off -o f.db --format csv > /dev/null
    [ "$(sqlite3 f.db 'SELECT (max(arrival_ps) + 500000) / 1000000 FROM serve_request')" -eq 250 ]
}

@test "serve: a range of a recorded trace is a request" {
    cat > torch.jsonl << END
{"load":"torch","seconds":0.2}
{"tenant":"t","trace":"$GRIDTIDE_SOURCE/traces/training/bottleneck.one.rank0.json.gz","range":"ProfilerStep","load":0.5}
END
    "$GRIDTIDE" serve -q torch.jsonl --format csv > out.csv || { cat out.csv; false; }
    grep -q '^tenants,t,critical' out.csv
}

@test "serve: a report of a load" {
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
    "$GRIDTIDE" serve -q two.jsonl --policy fifo,gate -o two.db > /dev/null
    "$GRIDTIDE" report -q two.db -o page
    grep -q 'id="latencies"' page/index.html
    for picture in serve-latency serve-timeline serve-policies; do
        [ -s page/$picture.svg ]
    done
    # Nothing but best-effort tenants; nothing but a warm-up.
    printf '%s\n' '{"load":"x","warm_up":9}' '{"tenant":"a","trace":"a.jsonl","class":"best-effort","per_s":5,"requests":3}' > few.jsonl
    "$GRIDTIDE" serve -q few.jsonl --policy none,fifo -o few.db > /dev/null
    "$GRIDTIDE" report -q few.db -o few
}

wrong() # TEXT: one line on standard error has it, and nothing is written
{
    run "$GRIDTIDE" serve -q bad.jsonl -o bad.db
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$1"* ]]
    [ ! -e bad.db ]
}

@test "serve: what is wrong with a load is said in a line" {
    tenant='{"tenant":"a","trace":"a.jsonl"'
    printf '%s\n' '{"gridtide":1,"device":"toy"}' '{"call":"device_sync"}' > nothing.jsonl
    while IFS='|' read -r first second text; do
        printf '%s\n' "$first" "$second" > bad.jsonl
        wrong "$text"
    done << END
{"load":"x"}|$tenant,"per_s":-5,"requests":3}|"per_s" must be more than 0
{"load":"x"}|$tenant,"per_s":5}|how many?
{"load":"x"}|$tenant,"per_s":5,"load":0.5,"requests":3}|either "per_s" or "load"
{"load":"x"}|$tenant,"requests":3}|either "per_s" or "load"
{"load":"x"}|$tenant,"arrivals":"closed"}|nothing ends them
{"load":"x"}|$tenant,"arrivals":"file"}|"file" goes with
{"load":"x"}|$tenant,"arrivals":"often","requests":3}|often
{"load":"x"}|$tenant,"per_s":5,"requests":3,"colour":1}|no field "colour"
{"load":"x"}|$tenant,"per_s":5,"requests":3,"workers":0}|"workers" must be
{"load":"x"}|$tenant,"per_s":5,"requests":3,"range":"none"}|no range 'none'
{"load":"x","seconds":-1}|$tenant,"per_s":5}|"seconds" must be
{"load":"x","policy":"huh"}|$tenant,"per_s":5,"requests":3}|no policy 'huh'
{"load":"x","policy":"slices blocks=0"}|$tenant,"per_s":5,"requests":3}|blocks
{"load":"x","share":"mps:120"}|$tenant,"per_s":5,"requests":3}|1 to 100
{"load":"x","share":"green:200"}|$tenant,"per_s":5,"requests":3}|SMs
{"load":"x","share":"mps:50,50"}|$tenant,"per_s":5,"requests":3}|mps:50,50
{"load":"x"}|$tenant,"per_s":5,"requests":0}|"requests" must be
{"load":"x"}|$tenant,"arrivals":"closed","requests":3,"per_s":5}|no "per_s"
{"load":"x"}|$tenant,"per_s":5,"requests":3,"workers":256},{}|:2:
{"load":"x"}|$tenant,"per_s":5,"requests":3,"share":"huh"}|no way to share
{"load":"x"}|$tenant,"per_s":5,"requests":3,"share":"mps"}|threads of one process
{"load":"x"}|{"tenant":"n","trace":"nothing.jsonl","arrivals":"closed","requests":3}|takes no time
{"load":"x"}||no tenants in it
$tenant,"per_s":5,"requests":3}||must come first
{"hello":1}||no line of a load
{"load":"x"|$tenant}|:1:
END
    printf '%s\n' '{"load":"x"}' "$tenant,\"per_s\":5,\"requests\":3}" "$tenant,\"per_s\":5,\"requests\":3}" > bad.jsonl
    wrong "already on line 2"
    printf '%s\n' '{"load":"x"}' '{"tenant":"a","trace":"missing.jsonl","per_s":5,"requests":3}' > bad.jsonl
    wrong "missing.jsonl"
}

@test "serve: what requests may do: graphs without edges, frees, closed arrivals beside others" {
    printf '%s\n' '{"gridtide":1,"name":"g","device":"h200"}' '{"call":"event_record","event":"e"}' \
        '{"call":"graph_launch","stream":"s","nodes":[{"direction":"d2h","bytes":4096}]}' > g.jsonl
    printf '%s\n' '{"load":"g"}' '{"tenant":"g","trace":"g.jsonl","per_s":1000,"requests":50}' > graphs.jsonl
    "$GRIDTIDE" serve -q graphs.jsonl -o g.db > /dev/null
    [ "$(sqlite3 g.db 'SELECT count(*) FROM serve_request')" -eq 50 ]
    # A free waits for its worker's work, not for what the gate holds back because of it.
    printf '%s\n' '{"gridtide":1,"name":"f","device":"toy"}' '{"kernel":"k","grid":2,"block":1024,"block_us":100}' \
        '{"call":"alloc","buffer":"m","bytes":1024}' '{"call":"launch","kernel":"k"}' '{"call":"free","buffer":"m"}' > f.jsonl
    printf '%s\n' '{"load":"f","seconds":0.01}' '{"tenant":"f","trace":"f.jsonl","per_s":1000}' \
        '{"tenant":"b","trace":"b.jsonl","class":"best-effort","arrivals":"closed"}' > frees.jsonl
    for policy in none gate slices; do
        timeout 20 "$GRIDTIDE" serve -q frees.jsonl --policy $policy > /dev/null
    done
    # No seconds: closed arrivals end with the others; a critical tenant that always has a request lets the load end.
    sed 's/,"requests":2//; s/,"seconds":0.003//' two.jsonl > closed.jsonl
    timeout 20 "$GRIDTIDE" serve -q closed.jsonl > /dev/null
    printf '%s\n' '{"load":"c","seconds":0.01}' '{"tenant":"a","trace":"a.jsonl","arrivals":"closed"}' \
        '{"tenant":"b","trace":"b.jsonl","class":"best-effort","per_s":100}' > starved.jsonl
    timeout 20 "$GRIDTIDE" serve -q starved.jsonl --policy gate --saturation > /dev/null
}

@test "serve: what is wrong with a file of arrivals is said in a line" {
    printf '%s\n' '{"load":"x"}' '{"tenant":"a","trace":"a.jsonl","arrivals":"file","file":"bad.csv"}' > bad.jsonl
    while IFS='|' read -r rows text; do
        printf "$rows" > bad.csv
        wrong "$text"
    done << 'END'
seconds\n0.2\n0.1\n|bad.csv:3: the arrival at 0.1 is before
seconds\n-1\n|bad.csv:2: an arrival at -1
seconds\nsoon\n|bad.csv:2: 'soon' in column seconds
seconds\n|no arrivals in it
hours\n1\n|no column seconds
seconds\n1e30\n|53 days
seconds\n"0.1|bad.csv:2:
TIMESTAMP\n2023-11-16 18:15:46 garbage\n|is no time
TIMESTAMP\n2023-99-16 18:15:46\n|is no time
END
    run "$GRIDTIDE" serve one.jsonl --load 0
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" serve
    [ "$status" -eq 2 ]
}

@test "serve: right-sized green contexts" {
    cat > size.jsonl << 'END'
{"load":"size","device":"h200","seconds":1}
{"tenant":"a","trace":"h.jsonl","per_s":500,"deadline_ms":2}
{"tenant":"b","trace":"h.jsonl","class":"best-effort","arrivals":"closed"}
END
    printf '%s\n' '{"gridtide":1,"name":"h","device":"h200"}' '{"kernel":"k","grid":132,"block":1024,"registers":32,"block_us":300}' \
        '{"call":"launch","kernel":"k"}' '{"call":"device_sync"}' > h.jsonl
    # Two blocks an SM: 66 SMs and more take one wave of 300 us, 33 to 65 two, 22 to 32 three.
    run "$GRIDTIDE" serve size.jsonl --share green:auto
    [ "$status" -eq 0 ]
    [[ $output == *"right-sized: green:"* ]]
    sed 's/"deadline_ms":2/"deadline_us":350/' size.jsonl > tight.jsonl
    run "$GRIDTIDE" serve tight.jsonl --share green:auto
    [ "$status" -eq 1 ]
    [[ $output == *"misses its deadline even on all SMs"* ]]
    sed 's/"deadline_ms":2/"deadline_us":1000/; s/"per_s":500/"per_s":50/' size.jsonl > two.jsonl
    run "$GRIDTIDE" serve two.jsonl --share green:auto
    # 24 SMs: three waves, 931 us.
    [[ $output == *"right-sized: green:24,104"* ]]
}

@test "serve: a Perfetto trace of a load has a process for each tenant" {
    command -v protoc > /dev/null || skip "no protoc"
    "$GRIDTIDE" serve -q two.jsonl --policy gate --noise off -o two.db > /dev/null
    "$GRIDTIDE" export perfetto two.db -o two.perfetto
    protoc --decode=perfetto.protos.Trace --proto_path="$GRIDTIDE_SOURCE/traces/export" perfetto.proto < two.perfetto > text
    for name in '"a"' '"b"' '"requests"' '"SMs with blocks"' '"stream 0"' '"request 2"'; do
        grep -q "name: $name" text
    done
    # Both SMs of the toy device are a's, then b's.
    [ "$(sqlite3 two.db 'SELECT max(sms) FROM serve_sms')" -eq 2 ]
}

@test "serve: requests as CSV" {
    "$GRIDTIDE" serve -q one.jsonl --noise off -o one.db --format csv > /dev/null
    "$GRIDTIDE" export csv one.db -o - | tr -d '\r' > one.csv
    # As in "requests wait for each other": the second one arrives at 100 and begins at 251.
    diff one.csv - << 'END'
run,policy,share,load,tenant,class,request,arrival_us,begin_us,end_us,latency_us,held_us,waited_us,slowed_us,behind
0,none,streams,,a,critical,0,0.000000,0.000000,251.000000,251.000000,0.000000,0.000000,0.000000,
0,none,streams,,a,critical,1,100.000000,251.000000,502.000000,402.000000,0.000000,0.000000,0.000000,
0,none,streams,,a,critical,2,2000.000000,2000.000000,2251.000000,251.000000,0.000000,0.000000,0.000000,
END
}

@test "serve: saturation, and all tables in one document" {
    "$GRIDTIDE" serve -q two.jsonl --saturation --format json > all.json
    grep -q '"saturation"' all.json
    if command -v jq > /dev/null; then
        [ "$(jq -r '.saturation[0].tenant' all.json)" = a ]
    fi
}
