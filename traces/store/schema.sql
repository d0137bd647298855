-- The store: what was asked (device, trace, stream, kernel, call, op), what happened
-- (run, run_call, run_op, run_block, run_bin: measured and simulated runs alike) and how
-- they compare.  Times are integer picoseconds since the run's origin.  The same run gives
-- the same rows: no wall-clock times in here, but for one counter, model_us.  What has come since version 2
-- stands in schema_kernels.sql.
PRAGMA application_id = 1196708164; -- 'GTID'
PRAGMA user_version = 2;

CREATE TABLE device (
    device_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sms INTEGER NOT NULL,
    warps_per_sm INTEGER NOT NULL,
    threads_per_sm INTEGER NOT NULL
);
CREATE TABLE device_key (          -- every key as the run used it
    device_id INTEGER NOT NULL REFERENCES device,
    key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (device_id, key)
) WITHOUT ROWID;
CREATE TABLE trace (
    trace_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,            -- the file's base name, or the trace's own name
    source TEXT,                   -- kineto, nsys, gridtide
    base_trace_id INTEGER REFERENCES trace -- what an option made this one from; same operation numbers
);
CREATE TABLE warning (
    trace_id INTEGER NOT NULL REFERENCES trace,
    kind TEXT NOT NULL, count INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (trace_id, kind)
) WITHOUT ROWID;
CREATE TABLE gpu (
    trace_id INTEGER NOT NULL REFERENCES trace, gpu_no INTEGER NOT NULL,
    id INTEGER NOT NULL, name TEXT,
    PRIMARY KEY (trace_id, gpu_no)
) WITHOUT ROWID;
CREATE TABLE stream (
    trace_id INTEGER NOT NULL REFERENCES trace, stream_no INTEGER NOT NULL,
    gpu_no INTEGER NOT NULL, context INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,
    flags INTEGER NOT NULL, priority INTEGER NOT NULL,
    PRIMARY KEY (trace_id, stream_no)
) WITHOUT ROWID;
CREATE TABLE thread (
    trace_id INTEGER NOT NULL REFERENCES trace, thread_no INTEGER NOT NULL,
    process INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT,
    PRIMARY KEY (trace_id, thread_no)
) WITHOUT ROWID;
CREATE TABLE kernel (
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL,
    name TEXT NOT NULL,
    grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
    block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
    registers INTEGER NOT NULL, static_shared_bytes INTEGER NOT NULL, dynamic_shared_bytes INTEGER NOT NULL,
    PRIMARY KEY (trace_id, kernel_no)
) WITHOUT ROWID;
CREATE TABLE call (
    trace_id INTEGER NOT NULL REFERENCES trace, call_no INTEGER NOT NULL,
    thread_no INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT, stream_no INTEGER,
    PRIMARY KEY (trace_id, call_no)
) WITHOUT ROWID;
CREATE TABLE op (
    trace_id INTEGER NOT NULL REFERENCES trace, op_no INTEGER NOT NULL,
    call_no INTEGER NOT NULL, kind TEXT NOT NULL, stream_no INTEGER NOT NULL,
    kernel_no INTEGER,             -- kernels
    direction TEXT, memory TEXT, bytes INTEGER, -- copies, memsets
    PRIMARY KEY (trace_id, op_no)
) WITHOUT ROWID;
CREATE TABLE run (
    run_id INTEGER PRIMARY KEY,
    trace_id INTEGER NOT NULL REFERENCES trace,
    device_id INTEGER NOT NULL REFERENCES device,
    kind TEXT NOT NULL CHECK (kind IN ('measured', 'simulated')),
    options TEXT NOT NULL,         -- e.g. "blocks=on seed=1 set=scheduling.connections=8"
    repetition INTEGER NOT NULL DEFAULT 0,
    whole INTEGER NOT NULL DEFAULT 0 -- 1 once every record is in
);
CREATE TABLE run_call (
    run_id INTEGER NOT NULL REFERENCES run, call_no INTEGER NOT NULL,
    start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL, blocked_ps INTEGER NOT NULL, cause_op INTEGER,
    PRIMARY KEY (run_id, call_no)
) WITHOUT ROWID;
CREATE TABLE run_op (
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL,
    submit_ps INTEGER, start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    wait_host_ps INTEGER, wait_stream_ps INTEGER, wait_event_ps INTEGER,
    wait_queue_ps INTEGER, wait_engine_ps INTEGER, wait_resource_ps INTEGER,
    cause_call INTEGER, cause_op INTEGER,
    PRIMARY KEY (run_id, op_no)
) WITHOUT ROWID;
CREATE TABLE run_block (           -- equal blocks that started together on one SM; the first million at most
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL,
    gpu_no INTEGER NOT NULL, sm INTEGER NOT NULL, first_block INTEGER NOT NULL, blocks INTEGER NOT NULL,
    start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    PRIMARY KEY (run_id, op_no, first_block, sm)
) WITHOUT ROWID;
CREATE TABLE run_placement (       -- blocks of one kernel by SM: "[8,8,0,8]", runs of the validator only
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL, gpu_no INTEGER NOT NULL,
    sm_blocks TEXT NOT NULL,       -- by SM number, no zeros at the end
    PRIMARY KEY (run_id, op_no, gpu_no)
) WITHOUT ROWID;
CREATE TABLE run_bin (             -- residency over time, complete; no row: nothing resident
    run_id INTEGER NOT NULL REFERENCES run, gpu_no INTEGER NOT NULL, sm INTEGER NOT NULL,
    bin INTEGER NOT NULL,          -- [bin * bin_ps, (bin + 1) * bin_ps), see counter
    warp_ps INTEGER NOT NULL, block_ps INTEGER NOT NULL, -- resident warps (blocks) times picoseconds
    PRIMARY KEY (run_id, gpu_no, sm, bin)
) WITHOUT ROWID;
CREATE TABLE counter (             -- scalars of a run: operations, blocks, events, bin_ps, blocks_dropped...
    run_id INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL, value NUMERIC NOT NULL,
    PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
CREATE TABLE comparison (          -- of one simulated run with one measured run of the same trace
    simulated_run_id INTEGER NOT NULL REFERENCES run, measured_run_id INTEGER NOT NULL REFERENCES run,
    metric TEXT NOT NULL REFERENCES metric, value REAL,
    PRIMARY KEY (simulated_run_id, measured_run_id, metric)
) WITHOUT ROWID;
CREATE TABLE metric (
    metric TEXT PRIMARY KEY, unit TEXT NOT NULL, threshold REAL, help TEXT NOT NULL
) WITHOUT ROWID;

-- Views, for people: times in microseconds, whole runs only.
CREATE VIEW op_named AS            -- operations with what they and their streams are called
SELECT o.trace_id, o.op_no, o.call_no, o.kind,
    CASE o.kind WHEN 'kernel' THEN k.name
        WHEN 'copy' THEN 'copy ' || o.direction || ' ' || o.memory ELSE o.kind END AS name,
    o.stream_no, coalesce(s.name, 'stream ' || s.id) AS stream, s.gpu_no,
    o.kernel_no, o.direction, o.memory, o.bytes
FROM op o
JOIN stream s ON s.trace_id = o.trace_id AND s.stream_no = o.stream_no
LEFT JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no;

CREATE VIEW op_time AS             -- when each operation ran and what it had waited for
SELECT r.run_id, r.kind AS run_kind, o.op_no, o.kind, o.name, o.stream,
    p.submit_ps / 1e6 AS submit_us, p.start_ps / 1e6 AS start_us, p.end_ps / 1e6 AS end_us,
    (p.end_ps - p.start_ps) / 1e6 AS duration_us,
    p.wait_host_ps / 1e6 AS wait_host_us, p.wait_stream_ps / 1e6 AS wait_stream_us,
    p.wait_event_ps / 1e6 AS wait_event_us, p.wait_queue_ps / 1e6 AS wait_queue_us,
    p.wait_engine_ps / 1e6 AS wait_engine_us, p.wait_resource_ps / 1e6 AS wait_resource_us
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op_named o ON o.trace_id = r.trace_id AND o.op_no = p.op_no
WHERE r.whole = 1;

CREATE VIEW run_pair AS            -- a simulated run with each measured run of its trace
SELECT s.run_id AS simulated_run_id, m.run_id AS measured_run_id, s.trace_id
FROM run s
JOIN trace t ON t.trace_id = s.trace_id
JOIN run m ON m.trace_id = coalesce(t.base_trace_id, t.trace_id) AND m.kind = 'measured' AND m.whole = 1
WHERE s.kind = 'simulated' AND s.whole = 1;

CREATE VIEW run_pair_origin AS     -- where two runs are aligned: the first GPU operation's start in each
SELECT p.simulated_run_id, p.measured_run_id, p.trace_id,
    min(s.start_ps) AS simulated_ps, min(m.start_ps) AS measured_ps
FROM run_pair p
JOIN run_op s ON s.run_id = p.simulated_run_id
JOIN run_op m ON m.run_id = p.measured_run_id AND m.op_no = s.op_no
JOIN op o ON o.trace_id = p.trace_id AND o.op_no = s.op_no AND o.kind <> 'host_function'
GROUP BY p.simulated_run_id, p.measured_run_id;

CREATE VIEW op_error AS            -- simulated against measured, an operation a row
SELECT o.op_no, o.name, o.stream,
    (m.start_ps - p.measured_ps) / 1e6 AS measured_start_us,
    (m.end_ps - p.measured_ps) / 1e6 AS measured_end_us,
    (s.start_ps - p.simulated_ps) / 1e6 AS simulated_start_us,
    (s.end_ps - p.simulated_ps) / 1e6 AS simulated_end_us,
    ((s.start_ps - p.simulated_ps) - (m.start_ps - p.measured_ps)) / 1e6 AS start_error_us,
    ((s.end_ps - s.start_ps) - (m.end_ps - m.start_ps)) / 1e6 AS duration_error_us,
    p.simulated_run_id, p.measured_run_id
FROM run_pair_origin p
JOIN run_op s ON s.run_id = p.simulated_run_id
JOIN run_op m ON m.run_id = p.measured_run_id AND m.op_no = s.op_no
JOIN op_named o ON o.trace_id = p.trace_id AND o.op_no = s.op_no AND o.kind <> 'host_function';

CREATE VIEW op_worst AS            -- the twenty operations whose start is furthest off
SELECT * FROM op_error ORDER BY abs(start_error_us) DESC, op_no LIMIT 20;

CREATE VIEW error_summary AS       -- the comparisons made, with units and what is aimed at
SELECT c.simulated_run_id, c.measured_run_id, c.metric, c.value, m.unit, m.threshold,
    CASE WHEN m.threshold IS NULL OR c.value IS NULL THEN NULL
        WHEN abs(c.value) <= m.threshold THEN 'yes' ELSE 'no' END AS within, m.help
FROM comparison c JOIN metric m ON m.metric = c.metric;

CREATE VIEW run_busy AS            -- time during which at least one GPU operation ran
SELECT run_id, count(*) AS operations, min(start_ps) AS first_ps, max(end_ps) AS last_ps,
    sum(max(0, end_ps - max(start_ps, coalesce(covered_ps, start_ps)))) AS busy_ps
FROM (SELECT p.run_id, p.start_ps, p.end_ps,
          max(p.end_ps) OVER (PARTITION BY p.run_id ORDER BY p.start_ps, p.end_ps
              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ps
      FROM run r
      JOIN run_op p ON p.run_id = r.run_id
      JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind <> 'host_function'
      WHERE r.whole = 1)
GROUP BY run_id;

CREATE VIEW run_summary AS         -- a run a row
SELECT r.run_id, r.kind, t.name AS trace, d.name AS device, r.options, b.operations,
    (b.last_ps - b.first_ps) / 1e6 AS makespan_us, b.busy_ps / 1e6 AS gpu_busy_us,
    100.0 * b.busy_ps / nullif(b.last_ps - b.first_ps, 0) AS gpu_busy_pct
FROM run r
JOIN trace t ON t.trace_id = r.trace_id
JOIN device d ON d.device_id = r.device_id
LEFT JOIN run_busy b ON b.run_id = r.run_id
WHERE r.whole = 1;

CREATE VIEW stream_idle AS         -- why each stream stood idle
SELECT r.run_id, o.stream_no, coalesce(s.name, 'stream ' || s.id) AS stream, why.reason,
    total(CASE why.reason WHEN 'host' THEN p.wait_host_ps WHEN 'stream' THEN p.wait_stream_ps
        WHEN 'event' THEN p.wait_event_ps WHEN 'queue' THEN p.wait_queue_ps
        WHEN 'engine' THEN p.wait_engine_ps ELSE p.wait_resource_ps END) / 1e6 AS idle_us
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no
JOIN stream s ON s.trace_id = o.trace_id AND s.stream_no = o.stream_no
CROSS JOIN (SELECT 0 AS place, 'host' AS reason UNION ALL SELECT 1, 'stream' UNION ALL SELECT 2, 'event'
    UNION ALL SELECT 3, 'queue' UNION ALL SELECT 4, 'engine' UNION ALL SELECT 5, 'resource') why
WHERE r.whole = 1 AND r.kind = 'simulated'
GROUP BY r.run_id, o.stream_no, why.place;

CREATE VIEW kernel_time AS         -- kernels by name
SELECT r.run_id, r.kind AS run_kind, k.name, count(*) AS launches,
    total(p.end_ps - p.start_ps) / 1e6 AS total_us, avg(p.end_ps - p.start_ps) / 1e6 AS mean_us,
    min(p.end_ps - p.start_ps) / 1e6 AS min_us, max(p.end_ps - p.start_ps) / 1e6 AS max_us
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind = 'kernel'
JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no
WHERE r.whole = 1
GROUP BY r.run_id, k.name ORDER BY r.run_id, total_us DESC, k.name;

CREATE VIEW copy_time AS           -- copies and memsets by direction and memory
SELECT r.run_id, r.kind AS run_kind, o.kind, o.direction, o.memory, count(*) AS operations,
    CAST(total(o.bytes) AS INTEGER) AS bytes, total(p.end_ps - p.start_ps) / 1e6 AS total_us,
    total(o.bytes) * 1e3 / nullif(total(p.end_ps - p.start_ps), 0) AS gbps
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind IN ('copy', 'memset')
WHERE r.whole = 1
GROUP BY r.run_id, o.kind, o.direction, o.memory;

CREATE VIEW call_time AS           -- the host's calls by name
SELECT r.run_id, r.kind AS run_kind, c.kind, coalesce(c.name, c.kind) AS name, count(*) AS calls,
    total(p.end_ps - p.start_ps) / 1e6 AS total_us, total(p.blocked_ps) / 1e6 AS blocked_us
FROM run r
JOIN run_call p ON p.run_id = r.run_id
JOIN call c ON c.trace_id = r.trace_id AND c.call_no = p.call_no
WHERE r.whole = 1
GROUP BY r.run_id, c.kind, coalesce(c.name, c.kind) ORDER BY r.run_id, total_us DESC, name;

CREATE VIEW sm_residency AS        -- mean resident warps and blocks of each SM over the run's makespan
SELECT r.run_id, n.gpu_no, n.sm, total(n.warp_ps) / nullif(b.last_ps - b.first_ps, 0) AS mean_warps,
    total(n.block_ps) / nullif(b.last_ps - b.first_ps, 0) AS mean_blocks,
    100.0 * total(n.warp_ps) / nullif(b.last_ps - b.first_ps, 0) / d.warps_per_sm AS warps_pct
FROM run r
JOIN device d ON d.device_id = r.device_id
JOIN run_bin n ON n.run_id = r.run_id
JOIN run_busy b ON b.run_id = r.run_id
WHERE r.whole = 1
GROUP BY r.run_id, n.gpu_no, n.sm;
