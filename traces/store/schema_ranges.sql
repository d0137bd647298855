-- Version 4 of the store: ranges (operators, annotations, steps), and views of the timeline.  Comes after
-- schema_kernels.sql; an older store that is opened to add runs gets it too.
PRAGMA user_version = 4;

CREATE TABLE range (               -- a stretch of a thread's time with a name
    trace_id INTEGER NOT NULL REFERENCES trace, range_no INTEGER NOT NULL,
    kind TEXT NOT NULL,            -- operator, annotation, step, module, nvtx
    name TEXT NOT NULL, thread_no INTEGER NOT NULL,
    parent_no INTEGER,             -- the innermost range of its thread that holds it
    nested INTEGER NOT NULL,       -- 0: begun and ended anywhere, holds no other range
    external_id INTEGER,           -- Kineto's
    first_call INTEGER NOT NULL, behind_call INTEGER NOT NULL, -- its thread's calls from the one to before the other
    first_op INTEGER NOT NULL, behind_op INTEGER NOT NULL,     -- (a step: all threads'), and operations likewise
    PRIMARY KEY (trace_id, range_no)
) WITHOUT ROWID;
CREATE TABLE call_range (          -- calls of which it is known who made them; no row: nothing is
    trace_id INTEGER NOT NULL REFERENCES trace, call_no INTEGER NOT NULL,
    range_no INTEGER,              -- the innermost range of its thread that it is in
    correlation INTEGER, external_id INTEGER, -- the profiler's numbers
    PRIMARY KEY (trace_id, call_no)
) WITHOUT ROWID;
CREATE TABLE run_range (           -- measured: as recorded; simulated: where its thread's calls came to lie
    run_id INTEGER NOT NULL REFERENCES run, range_no INTEGER NOT NULL,
    start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    PRIMARY KEY (run_id, range_no)
) WITHOUT ROWID;
CREATE TABLE kernel_cluster (      -- of the kernels that have one: blocks of a thread block cluster
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL,
    cluster_x INTEGER NOT NULL, cluster_y INTEGER NOT NULL, cluster_z INTEGER NOT NULL,
    PRIMARY KEY (trace_id, kernel_no)
) WITHOUT ROWID;
CREATE INDEX run_op_by_start ON run_op (run_id, start_ps);

CREATE VIEW step AS                -- a step a row: the host's time, and what its calls had the GPU do
SELECT r.run_id, r.kind AS run_kind, g.range_no, g.name,
    t.start_ps / 1e6 AS start_us, t.end_ps / 1e6 AS end_us, (t.end_ps - t.start_ps) / 1e6 AS duration_us,
    count(p.op_no) AS operations, min(p.start_ps) / 1e6 AS gpu_start_us, max(p.end_ps) / 1e6 AS gpu_end_us,
    total(p.end_ps - p.start_ps) / 1e6 AS gpu_us
FROM run r
JOIN range g ON g.trace_id = r.trace_id AND g.kind = 'step'
JOIN run_range t ON t.run_id = r.run_id AND t.range_no = g.range_no
LEFT JOIN run_op p ON p.run_id = r.run_id AND p.op_no >= g.first_op AND p.op_no < g.behind_op
WHERE r.whole = 1
GROUP BY r.run_id, g.range_no;

CREATE VIEW launch AS              -- which call asked for each operation, on whose behalf, and how long before
SELECT r.run_id, r.kind AS run_kind, o.op_no, o.name, o.stream, o.call_no, coalesce(c.name, c.kind) AS call,
    i.correlation, g.kind AS range_kind, g.name AS range,
    a.start_ps / 1e6 AS call_start_us, a.end_ps / 1e6 AS call_end_us,
    p.start_ps / 1e6 AS start_us, p.end_ps / 1e6 AS end_us, (p.start_ps - a.start_ps) / 1e6 AS latency_us
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op_named o ON o.trace_id = r.trace_id AND o.op_no = p.op_no
JOIN call c ON c.trace_id = r.trace_id AND c.call_no = o.call_no
LEFT JOIN run_call a ON a.run_id = r.run_id AND a.call_no = o.call_no
LEFT JOIN call_range i ON i.trace_id = r.trace_id AND i.call_no = o.call_no
LEFT JOIN range g ON g.trace_id = r.trace_id AND g.range_no = i.range_no
WHERE r.whole = 1;

CREATE VIEW gap AS                 -- when nothing ran, of a GPU ('any') and of each of its engines
SELECT run_id, run_kind, gpu_no, engine, start_ps / 1e6 AS start_us, end_ps / 1e6 AS end_us,
    (end_ps - start_ps) / 1e6 AS duration_us, before_op, after_op, cause
FROM (SELECT run_id, run_kind, gpu_no, engine, CAST(substr(before, 1, 20) AS INTEGER) AS start_ps,
          start_ps AS end_ps, CAST(substr(before, 21) AS INTEGER) AS before_op, op_no AS after_op, cause
      FROM (SELECT run_id, run_kind, gpu_no, engine, op_no, start_ps, cause, -- the operation before that ended last
                max(printf('%020d%d', end_ps, op_no)) OVER (PARTITION BY run_id, gpu_no, engine
                    ORDER BY start_ps, end_ps, op_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM (SELECT r.run_id, r.kind AS run_kind, s.gpu_no, p.op_no, p.start_ps, p.end_ps,
                      CASE e.any WHEN 1 THEN 'any' ELSE coalesce(o.direction, 'kernels') END AS engine,
                      CASE max(p.wait_host_ps, p.wait_stream_ps, p.wait_event_ps, p.wait_queue_ps,
                               p.wait_engine_ps, p.wait_resource_ps) -- what the operation behind waited for most
                          WHEN 0 THEN NULL WHEN p.wait_host_ps THEN 'host' WHEN p.wait_stream_ps THEN 'stream'
                          WHEN p.wait_event_ps THEN 'event' WHEN p.wait_queue_ps THEN 'queue'
                          WHEN p.wait_engine_ps THEN 'engine' WHEN p.wait_resource_ps THEN 'resource' END AS cause
                  FROM run r
                  JOIN run_op p ON p.run_id = r.run_id
                  JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind <> 'host_function'
                  JOIN stream s ON s.trace_id = o.trace_id AND s.stream_no = o.stream_no
                  CROSS JOIN (SELECT 1 AS any UNION ALL SELECT 0) e
                  WHERE r.whole = 1))
      WHERE before IS NOT NULL)
WHERE end_ps > start_ps;

CREATE VIEW overlap AS             -- pairs of operations of a GPU that ran together, and how long
SELECT r.run_id, r.kind AS run_kind, a.gpu_no, a.op_no AS first_op, a.name AS first, b.op_no AS second_op,
    b.name AS second, q.start_ps / 1e6 AS start_us, min(p.end_ps, q.end_ps) / 1e6 AS end_us,
    (min(p.end_ps, q.end_ps) - q.start_ps) / 1e6 AS duration_us
FROM run r
CROSS JOIN run_op p ON p.run_id = r.run_id
CROSS JOIN run_op q ON q.run_id = r.run_id AND q.start_ps >= p.start_ps AND q.start_ps < p.end_ps
    AND q.end_ps > q.start_ps AND (q.start_ps > p.start_ps OR q.op_no > p.op_no)
JOIN op_named a ON a.trace_id = r.trace_id AND a.op_no = p.op_no AND a.kind <> 'host_function'
JOIN op_named b ON b.trace_id = r.trace_id AND b.op_no = q.op_no AND b.kind <> 'host_function'
    AND b.gpu_no = a.gpu_no
WHERE r.whole = 1;

CREATE VIEW occupancy AS           -- warps and blocks resident on a GPU over time
SELECT r.run_id, r.kind AS run_kind, n.gpu_no, n.bin * c.value / 1e6 AS start_us, (n.bin + 1) * c.value / 1e6 AS end_us,
    count(*) AS sms, total(n.warp_ps) / c.value AS warps, total(n.block_ps) / c.value AS blocks,
    100.0 * total(n.warp_ps) / c.value / (d.sms * d.warps_per_sm) AS warps_pct
FROM run r
JOIN device d ON d.device_id = r.device_id
JOIN counter c ON c.run_id = r.run_id AND c.name = 'bin_ps' AND c.value > 0
JOIN run_bin n ON n.run_id = r.run_id
WHERE r.whole = 1
GROUP BY r.run_id, n.gpu_no, n.bin;
