-- The store: what was asked (device, trace, stream, kernel, call, op), what happened
-- (run, run_call, run_op, run_block, run_bin: measured and simulated runs alike) and how
-- they compare.  Times are integer picoseconds since the run's origin.  The same run gives
-- the same rows: no wall-clock times in here.
PRAGMA application_id = 1196708164; -- 'GTID'
PRAGMA user_version = 1;

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
    source TEXT                    -- kineto, nsys, gridtide
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
CREATE TABLE run_block (           -- equal blocks that started together on one SM; first rows only on big runs
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL,
    gpu_no INTEGER NOT NULL, sm INTEGER NOT NULL, first_block INTEGER NOT NULL, blocks INTEGER NOT NULL,
    start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    PRIMARY KEY (run_id, op_no, first_block, sm)
) WITHOUT ROWID;
CREATE TABLE run_bin (             -- residency over time, always complete: bin b covers [b*bin_ps, (b+1)*bin_ps)
    run_id INTEGER NOT NULL REFERENCES run, gpu_no INTEGER NOT NULL, sm INTEGER NOT NULL, bin INTEGER NOT NULL,
    warp_ps INTEGER NOT NULL, block_ps INTEGER NOT NULL, -- resident warps (blocks) times picoseconds
    PRIMARY KEY (run_id, gpu_no, sm, bin)
) WITHOUT ROWID;
CREATE TABLE counter (             -- scalars of a run: operations, blocks, events, bin_ps, blocks_dropped, ...
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
