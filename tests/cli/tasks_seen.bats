# Work that a kernel's blocks hand out among themselves, as a run's store, statistics, report and export show it.

setup()
{
    folder=$(mktemp -d)
    cat > "$folder/two.jsonl" <<- 'END'
	{"gridtide":1,"name":"two","device":"h200"}
	{"task_graph":"g","kinds":[{"kind":"tile","task_us":10},{"kind":"norm","task_us":4}],"tasks":[{"task":"a","kind":"tile"},{"task":"b","kind":"tile"},{"task":"c","kind":"norm","after":["a","b"]}]}
	{"kernel":"mega","grid":2,"block":64,"tasks":"g","policy":"shared"}
	{"call":"launch","kernel":"mega"}
	{"call":"device_sync"}
	END
    "$GRIDTIDE" run -q "$folder/two.jsonl" -o "$folder/run.db"
}

teardown()
{
    rm -r "$folder"
}

@test "tasks: the store has each, with its worker" {
    [ "$(sqlite3 "$folder/run.db" "SELECT group_concat(name || ' ' || kind || ' ' || duration_us, ', ') FROM
        (SELECT * FROM task_time ORDER BY task_no)")" = "a tile 10.0, b tile 10.0, c norm 4.0" ]
    [ "$(sqlite3 "$folder/run.db" 'SELECT count(*) || " " || sum(tasks) || " " || sum(work_us) FROM worker')" = "2 3 24.0" ]
    # c cannot start before both others have ended.
    [ "$(sqlite3 "$folder/run.db" "SELECT min(c.start_us > o.end_us) FROM task_time c, task_time o
        WHERE c.name = 'c' AND o.name <> 'c'")" = 1 ]
}

@test "tasks: statistics say where workers' time went" {
    "$GRIDTIDE" stats "$folder/run.db" -f json > "$folder/json"
    python3 - "$folder/json" <<- 'END'
	import json, sys
	stats = json.load(open(sys.argv[1]))
	tasks = stats["tasks"]
	assert (tasks["count"], tasks["workers"], tasks["critical_path_us"]) == (3, 2, 14), tasks
	assert 0 < tasks["utilisation_pct"] < 100 and tasks["overhead_us"] > 0, tasks
	assert [(kind["kind"], kind["count"], kind["total_us"]) for kind in stats["task_kinds"]] == [
	    ("tile", 2, 20), ("norm", 1, 4)]
	END
    "$GRIDTIDE" stats "$folder/run.db" | grep -q '^task_kinds'
}

@test "tasks: a part of a run without them has none" {
    run "$GRIDTIDE" stats "$folder/run.db" --kernel mega -f json
    grep -q '"tasks": {' <<< "$output"
    cat "$folder/two.jsonl" - > "$folder/more.jsonl" <<- 'END'
	{"kernel":"plain","grid":2,"block":64,"block_us":5}
	{"call":"launch","kernel":"plain"}
	END
    "$GRIDTIDE" run -q "$folder/more.jsonl" -o "$folder/more.db"
    run "$GRIDTIDE" stats "$folder/more.db" --kernel plain -f json
    [ "$status" = 0 ]
    ! grep -q '"tasks"' <<< "$output"
}

@test "tasks: the report draws workers, Perfetto has a track of each" {
    command -v gnuplot > /dev/null || skip "no gnuplot"
    "$GRIDTIDE" report -q "$folder/run.db" -o "$folder/report"
    [ "$(head -c 5 "$folder/report/workers.svg")" = "<?xml" ]
    grep -q 'waits for a counter' "$folder/report/workers.svg"
    grep -q 'Tasks by kind' "$folder/report/index.html"
    "$GRIDTIDE" export perfetto "$folder/run.db" -o "$folder/run.pftrace"
    [ "$(grep -ac 'worker 1' "$folder/run.pftrace")" -ge 1 ]
}

# explained FILE FILTER: what `explain` says of the tasks of a trace.
explained()
{
    rm -f "$folder/explained.db"
    "$GRIDTIDE" run -q "$1" -o "$folder/explained.db"
    "$GRIDTIDE" explain "$folder/explained.db" -f json > "$folder/explained"
    jq -e ".findings[] | select(.finding == \"tasks\") | $2" "$folder/explained"
}

@test "tasks: explain says what bounds a kernel of them, which worker and kind, and why others are idle" {
    command -v jq > /dev/null || skip "no jq"
    explained "$folder/two.jsonl" '.what | test("mega is bound by the critical path .*: 2 workers .* 10.0 us of it tile; idle:.* before the first and after the last task, worker [01] ends last")'
    # Lists that are uneven: one worker has all but one of the tasks.
    cat > "$folder/uneven.jsonl" <<- 'END'
	{"gridtide":1,"name":"uneven","device":"h200"}
	{"task_graph":"g","kinds":[{"kind":"tile","task_us":10}],"tasks":[{"count":20,"worker":[0,0,0,1]}]}
	{"kernel":"mega","grid":2,"block":64,"tasks":"g"}
	{"call":"launch","kernel":"mega"}
	END
    explained "$folder/uneven.jsonl" '.what | test("worker 0 ends last, with 1.5 times ")'
    # Hundreds of workers, tasks that take nothing: what each costs beside, and the queue.
    cat > "$folder/queue.jsonl" <<- 'END'
	{"gridtide":1,"name":"queue","device":"h200"}
	{"task_graph":"g","kinds":[{"kind":"tile","task_us":0.1}],"tasks":[{"count":30000}]}
	{"kernel":"mega","grid":1056,"block":64,"registers":32,"tasks":"g","policy":"shared"}
	{"call":"launch","kernel":"mega"}
	END
    explained "$folder/queue.jsonl" '(.what | test("bound by overhead per task.*contention on the queue")) and (.ask | test("tasks.overhead_us=0"))'
}

@test "polls: the store, the statistics and Perfetto have the pieces of work that a thread did meanwhile" {
    cat > "$folder/poll.jsonl" <<- 'END'
	{"gridtide":1,"name":"polls","device":"toy"}
	{"kernel":"k","grid":2,"block":64,"block_us":15}
	{"call":"launch","kernel":"k","stream":"s"}
	{"call":"poll","stream":"s","piece_us":4}
	{"call":"launch","kernel":"k","stream":"s"}
	{"call":"poll","stream":"s","piece_us":4,"most_pieces":2}
	END
    "$GRIDTIDE" run -q "$folder/poll.jsonl" -o "$folder/poll.db"
    [ "$(sqlite3 "$folder/poll.db" 'SELECT group_concat(pieces) FROM (SELECT pieces FROM poll ORDER BY call_no)')" = 4,2 ]
    "$GRIDTIDE" stats "$folder/poll.db" -f json | grep -A3 '"polls"' | grep -q '"pieces": 6'
    "$GRIDTIDE" export perfetto "$folder/poll.db" -o "$folder/poll.pftrace"
    grep -q pieces "$folder/poll.pftrace"
    ! "$GRIDTIDE" stats "$folder/run.db" -f json | grep -q '"polls"'
    # A store of before can be read, and gets the table when runs are added.
    sqlite3 "$folder/poll.db" 'DROP VIEW poll; DROP TABLE run_poll; PRAGMA user_version = 7'
    "$GRIDTIDE" stats "$folder/poll.db" > /dev/null
    "$GRIDTIDE" export perfetto "$folder/poll.db" -o "$folder/old.pftrace"
}
