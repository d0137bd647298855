-- Version 3 of the store: kernels from their machine code.  Comes after schema.sql; a store of version 2 that
-- is opened to add runs gets it too.
PRAGMA user_version = 3;

CREATE TABLE instruction (         -- machine code of the kernels that have a program
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL, instruction_no INTEGER NOT NULL,
    offset_bytes INTEGER NOT NULL, text TEXT NOT NULL, pipe TEXT NOT NULL,
    executions INTEGER NOT NULL,   -- warp instructions of the profiled launch
    threads REAL NOT NULL,         -- of a warp: active and not predicated off, mean
    sectors REAL, sectors_ideal REAL,       -- of 32 bytes, asked of L1 by an execution; coalesced
    wavefronts REAL, wavefronts_ideal REAL, -- passes through shared memory; without bank conflicts
    PRIMARY KEY (trace_id, kernel_no, instruction_no)
) WITHOUT ROWID;
CREATE TABLE run_kernel (          -- a kernel launch in cycles; measured: as the trace's profile has it
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL,
    like_op INTEGER NOT NULL,      -- the first that is the same launch: run_issue and run_stall have that one
    cycles REAL,                   -- launch, all blocks, drain; NULL: the model gave up, see `failure`
    duration_ps INTEGER,           -- measured: by the profiler's clock; simulated: of the device's SM clock
    bound_cycles REAL,             -- simulated: +-, of extrapolating
    launch_cycles REAL, run_cycles REAL, drain_cycles REAL, -- simulated: the parts of `cycles`
    warp_instructions INTEGER,     -- simulated: executed by the model
    covered INTEGER,               -- warp instructions of the whole launch
    l2_bytes_per_cycle REAL, dram_bytes_per_cycle REAL, -- of the whole GPU, mean
    issue_share REAL, lsu_share REAL, -- 0..1: issue slots used; cycles that the load/store unit worked
    warps_mean REAL,               -- resident on the SM simulated
    failure TEXT,
    PRIMARY KEY (run_id, op_no)
) WITHOUT ROWID;
CREATE TABLE run_issue (           -- warp instructions by the pipe that executes them; simulated runs
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL,
    pipe TEXT NOT NULL, warp_instructions INTEGER NOT NULL,
    PRIMARY KEY (run_id, op_no, pipe)
) WITHOUT ROWID;
CREATE TABLE run_stall (           -- where warps were; no row: none
    run_id INTEGER NOT NULL REFERENCES run, op_no INTEGER NOT NULL, instruction_no INTEGER NOT NULL,
    reason TEXT NOT NULL,          -- 'selected': issued
    amount REAL NOT NULL,          -- simulated: warp cycles; measured: the profiler's samples
    PRIMARY KEY (run_id, op_no, instruction_no, reason)
) WITHOUT ROWID;

CREATE VIEW kernel_launch AS       -- kernels, numbered as they were launched, from 0
SELECT o.trace_id, o.op_no, o.kernel_no, k.name,
    row_number() OVER (PARTITION BY o.trace_id ORDER BY o.op_no) - 1 AS launch
FROM op o
JOIN kernel k ON k.trace_id = o.trace_id AND k.kernel_no = o.kernel_no
WHERE o.kind = 'kernel';

CREATE VIEW kernel_cycles AS       -- cycles simulated against measured, a launch a row
SELECT l.op_no, l.launch, l.name, m.cycles AS measured_cycles, s.cycles AS simulated_cycles,
    100.0 * (s.cycles - m.cycles) / nullif(m.cycles, 0) AS error_pct,
    m.duration_ps / 1e6 AS measured_us, s.failure,
    p.simulated_run_id, p.measured_run_id
FROM run_pair p
JOIN kernel_launch l ON l.trace_id = p.trace_id
LEFT JOIN run_kernel s ON s.run_id = p.simulated_run_id AND s.op_no = l.op_no
LEFT JOIN run_kernel m ON m.run_id = p.measured_run_id AND m.op_no = l.op_no
WHERE s.cycles IS NOT NULL OR s.failure IS NOT NULL OR m.cycles IS NOT NULL;
