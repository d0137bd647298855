-- Version 14 of the store: what operators were given, and what kernels do.  Comes after schema_plain.sql; an older store that is
-- opened to add runs gets it too, its traces without rows.
PRAGMA user_version = 14;

CREATE TABLE IF NOT EXISTS range_inputs ( -- of operators whose inputs were recorded
    trace_id INTEGER NOT NULL REFERENCES trace, range_no INTEGER NOT NULL,
    inputs TEXT NOT NULL,          -- types, sizes, numbers, as in traces/FORMAT.md: 'float16[8,128] - (2,2)'
    PRIMARY KEY (trace_id, range_no)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kernel_family ( -- what a kernel does, by its name
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL,
    family TEXT NOT NULL,          -- gemm, convolution, attention, ...: gridtide-explain(1)
    PRIMARY KEY (trace_id, kernel_no)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS profiled_work ( -- of launches that a profiler counted
    trace_id INTEGER NOT NULL REFERENCES trace, op_no INTEGER NOT NULL,
    precision TEXT NOT NULL,       -- half, tf32, fp32: of the kind of arithmetic with the most operations
    flops REAL NOT NULL,           -- these operations; a multiply-add is two
    dram_bytes REAL NOT NULL,      -- read and written
    PRIMARY KEY (trace_id, op_no)
) WITHOUT ROWID;

CREATE VIEW IF NOT EXISTS kernel_run AS          -- kernels that ran, a launch a row, with their family
SELECT r.run_id, r.kind AS run_kind, p.op_no, k.kernel_no, k.name, f.family,
    p.start_ps / 1e6 AS start_us, p.end_ps / 1e6 AS end_us, (p.end_ps - p.start_ps) / 1e6 AS duration_us
FROM run r
JOIN run_op p ON p.run_id = r.run_id
JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind = 'kernel'
JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no
LEFT JOIN kernel_family f ON f.trace_id = o.trace_id AND f.kernel_no = o.kernel_no
WHERE r.whole = 1;

CREATE VIEW IF NOT EXISTS family_time AS         -- kernels of a run by family, most time first
SELECT run_id, run_kind, family, count(*) AS launches, sum(duration_us) AS time_us,
    100.0 * sum(duration_us) / sum(sum(duration_us)) OVER (PARTITION BY run_id) AS time_pct
FROM kernel_run
GROUP BY run_id, family
ORDER BY run_id, time_us DESC;
