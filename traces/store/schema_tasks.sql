-- Version 5 of the store: task graphs that the blocks of a kernel do among themselves.  Comes after schema_ranges.sql;
-- an older store that is opened to add runs gets it too.
PRAGMA user_version = 5;

CREATE TABLE task_kind (
    trace_id INTEGER NOT NULL REFERENCES trace, graph_no INTEGER NOT NULL, kind_no INTEGER NOT NULL,
    graph TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (trace_id, graph_no, kind_no)
) WITHOUT ROWID;
CREATE TABLE task (                -- the first million of a graph at most
    trace_id INTEGER NOT NULL REFERENCES trace, graph_no INTEGER NOT NULL, task_no INTEGER NOT NULL,
    kind_no INTEGER NOT NULL, name TEXT,
    worker_no INTEGER,             -- whose list it is in; NULL: anybody's
    PRIMARY KEY (trace_id, graph_no, task_no)
) WITHOUT ROWID;
CREATE TABLE kernel_tasks (        -- kernels whose blocks are workers
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL,
    graph_no INTEGER NOT NULL, policy TEXT NOT NULL,
    PRIMARY KEY (trace_id, kernel_no)
) WITHOUT ROWID;
CREATE TABLE run_task (            -- the first million of a run at most; counter tasks_dropped has the rest
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL, task_no INTEGER NOT NULL,
    worker_no INTEGER NOT NULL,    -- the block, linear
    asked_ps INTEGER NOT NULL, taken_ps INTEGER NOT NULL, start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    cause_task INTEGER,            -- whose signal let it start last
    stolen INTEGER NOT NULL,
    PRIMARY KEY (run_id, op_no, task_no)
) WITHOUT ROWID;

CREATE VIEW task_time AS           -- when each task was done, by whom, and what its worker had waited for
SELECT r.run_id, r.kind AS run_kind, x.op_no, x.task_no, k.graph, k.name AS kind, t.name, x.worker_no AS worker,
    x.asked_ps / 1e6 AS asked_us, x.start_ps / 1e6 AS start_us, x.end_ps / 1e6 AS end_us,
    (x.end_ps - x.start_ps) / 1e6 AS duration_us, (x.taken_ps - x.asked_ps) / 1e6 AS wait_queue_us,
    (x.start_ps - x.taken_ps) / 1e6 AS wait_counter_us, x.cause_task, x.stolen
FROM run r
JOIN run_task x ON x.run_id = r.run_id
JOIN op o ON o.trace_id = r.trace_id AND o.op_no = x.op_no
JOIN kernel_tasks n ON n.trace_id = r.trace_id AND n.kernel_no = o.kernel_no
LEFT JOIN task t ON t.trace_id = r.trace_id AND t.graph_no = n.graph_no AND t.task_no = x.task_no
LEFT JOIN task_kind k ON k.trace_id = r.trace_id AND k.graph_no = n.graph_no AND k.kind_no = t.kind_no
WHERE r.whole = 1;

CREATE VIEW worker AS              -- a worker of a kernel a row: where its time went
SELECT r.run_id, r.kind AS run_kind, x.op_no, x.worker_no AS worker, count(*) AS tasks, total(x.stolen) AS stolen,
    total(x.end_ps - x.start_ps) / 1e6 AS work_us, total(x.taken_ps - x.asked_ps) / 1e6 AS wait_queue_us,
    total(x.start_ps - x.taken_ps) / 1e6 AS wait_counter_us,
    min(x.asked_ps) / 1e6 AS start_us, max(x.end_ps) / 1e6 AS end_us
FROM run r
JOIN run_task x ON x.run_id = r.run_id
WHERE r.whole = 1
GROUP BY r.run_id, x.op_no, x.worker_no;
