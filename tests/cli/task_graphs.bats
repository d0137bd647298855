# Task graphs in files: gridtide import tasks, the syntax of FORMAT.md, large ones by columns, what is refused.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    data=$GRIDTIDE_SOURCE/tests/data
    command -v python3 > /dev/null || skip "no python3 to make graphs with"
}

# graph NAME ARGUMENT...: a made-up graph of a compiler.
graph() {
    python3 "$data/task_graphs.py" "${@:2}" > "$1"
}

# change FILE PYTHON: the same document, changed.
change() {
    python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
$2
json.dump(d, open(sys.argv[1], 'w'), indent=2)" "$1"
}

# trace GRAPH [KERNEL]: a trace of one launch of a typed graph, as FILE typed.jsonl.
trace() {
    printf '%s\n' '{"gridtide":1,"device":"h200"}' "$1" \
        "${2:-{\"kernel\":\"m\",\"grid\":4,\"block\":32,\"tasks\":\"g\"\}}" '{"call":"launch","kernel":"m"}' > typed.jsonl
}

# refuses TEXT: the typed trace is refused, with that in the message.
refuses() {
    run "$GRIDTIDE" run -q typed.jsonl -o typed.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"typed.jsonl:"* ]]
    [[ "$output" == *"$1"* ]] || { echo "$output"; return 1; }
}

@test "AutoMegaKernel's IR becomes one launch: blocks as the target has SMs, lists as its loader deals them" {
    graph ir.json amk
    run "$GRIDTIDE" import ir.json -o ir.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"ir (tasks)"* ]]
    [[ "$output" == *"tasks       $(grep -c '"op"' ir.json), static"* ]]
    [[ "$output" == *"device      h100"* ]]
    grep -q '{"kernel":"megakernel","grid":\[132\],"block":\[256\],"tasks":"ir","policy":"static"}' ir.jsonl
    # Bytes, operations, label, and the first tasks on workers of their own: all have moved nothing so far.
    grep -q '{"task":"embed","kind":"EMBED","worker":0,"bytes":128,"operations":0,' ir.jsonl
    grep -q '{"task":"L0.input_norm","kind":"RMSNORM","worker":1,"bytes":128,"operations":256,' ir.jsonl
    grep -q '{"buffer":"L0.kcache","bytes":8192,"given":true}' ir.jsonl
    grep -q '{"buffer":"h0","bytes":128}' ir.jsonl
}

@test "kinds of AutoMegaKernel's tasks have the parameters that say how large they are, and a cost by their first word" {
    graph ir.json amk
    change ir.json 'for i, t in enumerate(d["tasks"]):
    t["params"] = {"eps": 1e-6, "hidden": 64, "n_off": 64 * i} if t["op"] == "RMSNORM" else \
        {"K": 64, "N_tile": 32 + 32 * (i % 2), "n_off": i, "note": "x"} if t["op"] == "GEMV_TILE" else {}'
    "$GRIDTIDE" import -q ir.json -o ir.jsonl
    [ "$(grep -o '{"kind":"GEMV_TILE[^"]*"' ir.jsonl | sort -u | paste -sd' ')" = \
        '{"kind":"GEMV_TILE K=64 N_tile=32" {"kind":"GEMV_TILE K=64 N_tile=64"' ]
    grep -q '"kind":"RMSNORM hidden=64"' ir.jsonl
    printf 'kind,time_us\nGEMV_TILE,2\nGEMV_TILE K=64 N_tile=64,3\n' > costs.csv
    "$GRIDTIDE" run -q ir.jsonl --task-costs costs.csv -o costs.db
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    [ "$(sqlite3 costs.db "SELECT group_concat(us) FROM (SELECT DISTINCT kind, round(duration_us, 3) AS us FROM task_time
        WHERE kind LIKE 'GEMV%' ORDER BY kind)")" = 2.0,3.0 ]
    change ir.json 'd["tasks"][0]["params"] = 7'
    run "$GRIDTIDE" import -q ir.json -o ir.jsonl
    [ "$status" -eq 1 ]
}

@test "order and lists are those of AutoMegaKernel's loader, reckoned by another hand" {
    graph ir.json amk 3 128 16 20
    "$GRIDTIDE" import -q ir.json -o ir.jsonl
    python3 - << 'END'
import heapq, json
from collections import deque

tasks = json.load(open("ir.json"))["tasks"]
producers = {}
for task in tasks:
    producers.setdefault(task["out_counter"], []).append(task["id"])
edges = sorted({(p, t["id"]) for t in tasks for w in t["waits"] for p in producers[w["counter"]]})
behind, needs = [[] for _ in tasks], [0] * len(tasks)
for before, task in edges:
    behind[before].append(task)
    needs[task] += 1
ready, order = deque(t for t, n in enumerate(needs) if n == 0), []
while ready:
    order.append(ready.popleft())
    for task in behind[order[-1]]:
        needs[task] -= 1
        if needs[task] == 0:
            ready.append(task)
heap, expected = [(0, 0, 0, sm) for sm in range(20)], []
for number in order:
    moved, done, count, sm = heapq.heappop(heap)
    expected.append((tasks[number]["label"], sm))
    heapq.heappush(heap, (moved + tasks[number]["est_bytes"], done + tasks[number]["est_flops"], count + 1, sm))
found = []
for line in map(json.loads, open("ir.jsonl")):
    for task in line.get("tasks", []) if "task_graph" in line or "tasks_of" in line else []:
        found += [(task["task"], task["worker"])] * task.get("count", 1)
assert len(found) > 200 and found == expected, (found[:5], expected[:5])
END
}

@test "the tasks' own SMs count, then the configuration's map, else one queue is shared" {
    graph ir.json amk 1
    change ir.json 'd["config"]["sm_assignment"] = {str(t["id"]): t["id"] % 5 for t in d["tasks"]}'
    "$GRIDTIDE" import -q ir.json -o map.jsonl
    grep -q '"worker":4.*"policy":"static"' <(tr -d '\n' < map.jsonl)
    change ir.json 'for t in d["tasks"]: t["sm"] = 7 if t["id"] < 3 else None
d["config"]["sm_assignment"] = "load_balance"'
    "$GRIDTIDE" import -q ir.json -o some.jsonl
    [ "$(grep -o '"worker":7' some.jsonl | wc -l)" -eq 3 ]
    grep -q '"policy":"mixed"' some.jsonl
    change ir.json 'for t in d["tasks"]: t["sm"] = None
d["config"] = None'
    "$GRIDTIDE" import -q ir.json -o none.jsonl
    grep -q '"policy":"shared"' none.jsonl
    ! grep -q worker none.jsonl
}

@test "Mirage's task_graph.json becomes one launch: a task waits for its event's triggers" {
    graph task_graph.json mirage 3 8
    run "$GRIDTIDE" import task_graph.json -o m.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"tasks       25, shared"* ]]
    grep -q '{"kind":"LINEAR_HOPPER","count":8,"bytes":66688,"operations":65536,"waits":\[\[2,8\]\],"signals":\[3\],"reads":\["x1","w1"\],"writes":\["x2"\]}' m.jsonl
    change task_graph.json 'd["all_events"][2]["num_triggers"] = 9'
    run "$GRIDTIDE" import -q task_graph.json -o m.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"task_graph.json:"*"its signals bring it to 8: for ever"* ]]
}

@test "import tasks refuses what breaks a rule, and names the line and the task" {
    check() { # CHANGE MESSAGE
        graph ir.json amk 1
        change ir.json "$1"
        run "$GRIDTIDE" import -q ir.json -o ir.jsonl
        [ "$status" -eq 1 ] && [[ "$output" =~ ir.json:[0-9]+:.*$2 ]] || { echo "$1: $output"; return 1; }
    }
    check 'd["tasks"][5]["waits"][0]["threshold"] = 0' 'task 5 \(.*waits for nobody'
    check 'd["tasks"][1]["waits"][0]["threshold"] = 2' 'task 1 \(L0.input_norm\).*for ever'
    check 'd["tasks"][0]["waits"] = [{"counter": d["tasks"][-1]["out_counter"], "threshold": 4}]' 'needs it in turn'
    check 't = next(t for t in d["tasks"] if any(w["threshold"] > 1 for w in t["waits"])); t["waits"][0]["threshold"] = 1' \
        'whichever end first'
    check 'd["tasks"][3]["waits"] = []' 'task 3 .*it reads buffer'
    check 'for t in d["tasks"]: t["sm"] = 0
d["tasks"].reverse()' 'comes after'
    check 'd["tasks"][2]["inputs"][0] = 999' 'task 2 \(L0.q_proj\[t0\]\): there is no buffer 999'
    check 'd["tasks"][2]["sm"] = 132' 'task 2 .*its SM is 132'
    check 'd["tasks"][2]["waits"][0]["threshold"] = 1.5' 'threshold'
    graph ir.json amk 1
    change ir.json 'd["ir_version"] = "1.0.0"'
    run "$GRIDTIDE" import -q ir.json -o ir.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *'ir.json: "ir_version" is not 0.x'* ]]
}

@test "a typed graph that breaks a rule is refused by run, and the message names the task" {
    kinds='"kinds":[{"kind":"k","task_us":1}]'
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"signals\":[\"c\"]},{\"task\":\"b\",\"waits\":[[\"c\",2]]}]}"
    refuses "typed.jsonl:2: task graph g: task 1 (b): it waits until counter c is 2, and its signals bring it to 1"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"count\":3,\"signals\":[\"c\"]},{\"task\":\"b\",\"waits\":[[\"c\",2]]}]}"
    refuses "task 3 (b): it waits until counter c is 2, and several tasks signal it"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"after\":[\"b\"]},{\"task\":\"b\",\"after\":[\"a\"]}]}"
    refuses "needs it in turn"
    # Each list is in order by itself; together they wait for each other.
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"worker\":0,\"after\":[\"d\"]},{\"task\":\"b\",\"worker\":0},
        {\"task\":\"c\",\"worker\":1,\"after\":[\"b\"]},{\"task\":\"d\",\"worker\":1}]}"
    tr '\n' ' ' < typed.jsonl | sed 's/} *{"kernel/}\n{"kernel/; s/} {"task_graph/}\n{"task_graph/; s/} {"call/}\n{"call/' > one && mv one typed.jsonl
    refuses "by the workers' lists"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"writes\":[\"x\"]},{\"task\":\"b\",\"reads\":[\"x\"]}]}"
    refuses "task 1 (b): it reads buffer x"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"makes\":[\"b\"]},{\"task\":\"m\",\"makes\":[\"b\"]},{\"task\":\"b\"}]}"
    refuses "task 2 (b): it is made twice"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"makes\":[\"b\"]},{\"task\":\"b\"}]}" \
        '{"kernel":"m","grid":4,"block":32,"tasks":"g","policy":"shared"}'
    refuses "use ready or steal"
    trace "{\"task_graph\":\"g\",$kinds,\"tasks\":[{\"task\":\"a\",\"worker\":7}]}"
    refuses "task 0 (a): it is in the list of worker 7, and kernel m has 4 blocks"
}

@test "mistakes in a task graph are told with file and line" {
    trace '{"task_graph":"g","kinds":[{"kind":"k","task_us":1}],"tasks":[{"task":"a","kind":"z"}]}'
    refuses "typed.jsonl:2: task a: the graph has no kind z; defined so far: k"
    trace '{"task_graph":"g","tasks":[{"task":"a","duration_us":1,"after":["q"]}]}'
    refuses 'there is no task q'
    trace '{"task_graph":"g","kinds":[{"kind":"k"},{"kind":"k"}]}'
    refuses "typed.jsonl:2: kind 1: kind k is defined already"
    trace '{"task_graph":"g","kinds":[{"kind":"k","task_heavy_us":[1,9]}]}'
    refuses '"tail"'
    trace '{"task_graph":"g","kinds":[{"kind":"k"}],"columns":{"count":2,"kind":[0]}}'
    refuses '"kind" has 1 entries for 2 tasks'
    trace '{"task_graph":"g"}' '{"kernel":"m","tasks":"h"}'
    refuses "typed.jsonl:3: no task graph h has been defined above this line; defined so far: g"
    trace '{"task_graph":"g"}' '{"kernel":"m","tasks":"g","block_us":3}'
    refuses "omit the block time"
}

@test "a graph is written as it was read; a large one by columns, and the two forms mean the same" {
    "$GRIDTIDE" import -q "$GRIDTIDE_SOURCE/tests/fuzz/samples/tasks.jsonl" -o one.jsonl
    grep -q '"colour":"kept"' one.jsonl
    grep -q '"note":\[1\]' one.jsonl
    "$GRIDTIDE" import -q one.jsonl -o two.jsonl
    cmp one.jsonl two.jsonl
    graph big.json amk 6 512 16
    "$GRIDTIDE" import -q big.json -o one.jsonl
    grep -q '"columns":{"count":' one.jsonl
    "$GRIDTIDE" import -q one.jsonl -o two.jsonl.zst
    "$GRIDTIDE" import -q two.jsonl.zst -o three.jsonl
    cmp one.jsonl three.jsonl
}

@test "--task-costs gives times to tasks that say none, by kind and size, from CSV or JSON" {
    trace '{"task_graph":"g","kinds":[{"kind":"k"},{"kind":"timed","task_us":1}],"tasks":[{"kind":"k","bytes":1000},{"kind":"k","bytes":1500},{"kind":"k","bytes":4000},{"kind":"k","bytes":10},{"kind":"timed"}]}'
    printf 'op,bytes,time_us,note\nk,1000,2,x\nk,2000,4,y\n' > costs.csv
    run "$GRIDTIDE" run typed.jsonl --task-costs costs.csv -o csv.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"4 tasks take their time from costs.csv, 1 state their own time"* ]]
    printf '\n {"time_ns":{"k":[[1000,2000],[2000,4000]]}}' > costs.json
    run "$GRIDTIDE" run -q typed.jsonl --task-costs costs.json -o json.db
    [ "$status" -eq 0 ]
    # The same times, written out: 2 us, 3 between the sizes, 8 beyond them in proportion, 2 below them.
    sed 's/"bytes":1000/"duration_us":2/; s/"bytes":1500/"duration_us":3/; s/"bytes":4000/"duration_us":8/
        s/"bytes":10}/"duration_us":2}/' typed.jsonl > said.jsonl
    "$GRIDTIDE" run -q said.jsonl -o said.db
    for db in csv.db json.db; do
        cmp <("$GRIDTIDE" export csv said.db -o - | cut -d, -f 17-) <("$GRIDTIDE" export csv $db -o - | cut -d, -f 17-)
    done
}

@test "--task-costs refuses a table that it cannot read, or that has none of the kinds" {
    trace '{"task_graph":"g","kinds":[{"kind":"k"}],"tasks":[{"bytes":1000}]}'
    wrong() { # TABLE MESSAGE
        printf "$1" > costs
        run "$GRIDTIDE" run -q typed.jsonl --task-costs costs -o wrong.db
        [ "$status" -eq 1 ] && [[ "$output" == *"$2"* ]] || { echo "$output"; return 1; }
    }
    wrong 'kind,bytes\nk,1\n' 'costs:1: the header needs the columns kind and time_us'
    wrong 'kind,time_us\nk,x\n' "costs:2: the time 'x'"
    wrong 'kind,time_us\nk,1\nk,2\n' 'kind k has two times'
    wrong 'kind,time_us\nj,1\n' 'gives a time to none of the 1 tasks'
    wrong '{"time_us":{"k":"x"}}' 'costs: kind k: a time is a number'
    wrong '{"time_us":\n{"k":' 'costs:2: '
    wrong '' 'the table is empty'
    run "$GRIDTIDE" run -q typed.jsonl --task-costs missing -o wrong.db
    [ "$status" -eq 1 ]
}

@test "a rewritten trace runs as the typed one does, and what-ifs reach the tasks of a kernel" {
    trace '{"task_graph":"g","kinds":[{"kind":"k","task_us":[3,5]}],"tasks":[{"task":"a","count":50},{"task":"b","after":["a"]}]}'
    "$GRIDTIDE" import -q typed.jsonl -o again.jsonl
    "$GRIDTIDE" run -q typed.jsonl -o typed.db
    "$GRIDTIDE" run -q again.jsonl -o again.db
    cmp <("$GRIDTIDE" export csv typed.db -o - | cut -d, -f 17-) <("$GRIDTIDE" export csv again.db -o - | cut -d, -f 17-)
    # Half the time for each task of 3 to 5 us, 13 on each worker and one behind: 28 us of 100 less.
    run "$GRIDTIDE" whatif -q typed.jsonl --change 'kernel=m*0.5' --format json
    [ "$status" -eq 0 ]
    change=$(grep -o '"change_pct": *-[0-9.]*' <<< "$output" | head -n 1 | grep -o '[0-9.]*$')
    [ "${change%.*}" -ge 25 ]
}

@test "tasks without a time last as a block of their kind's program; a table goes before it" {
    trace '{"task_graph":"g","kinds":[{"kind":"ten","program":"ten"}],"tasks":[{"count":500}]}'
    sed -i '1a {"program":"ten","compute_capability":90,"warps":2,"warps_per_block":1,"l1_load_hit":0,"sass":["LDG.E R0, desc[UR4][R2.64]","FADD R0, R0, 1","@P0 BRA 0x10","STG.E desc[UR4][R2.64], R0","EXIT"],"control":[1809,4084,2021,2033,2034],"executions":[2,20,20,2,2],"access":[[0,"global",4,4,1],[3,"global",4,4,1]]}' typed.jsonl
    run "$GRIDTIDE" run typed.jsonl -o program.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"tasks of 1 kinds take the time of one block of their program, alone on its SM"* ]]
    # 125 tasks a worker, each a load from DRAM and more: between 0.3 and 3 us.
    us=$("$GRIDTIDE" export csv program.db -o - | tail -n 1 | cut -d, -f 20)
    [ "${us%.*}" -ge 38 ] && [ "${us%.*}" -le 750 ]
    printf 'kind,time_us\nten,100\n' > costs.csv
    "$GRIDTIDE" run -q typed.jsonl --task-costs costs.csv -o table.db
    us=$("$GRIDTIDE" export csv table.db -o - | tail -n 1 | cut -d, -f 20)
    [ "${us%.*}" -ge 12500 ]
}
