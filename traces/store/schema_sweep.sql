-- A sweep: the grid of changes over traces, a row a point.  Only stores that `gridtide sweep` makes have these tables.
-- Points are numbered trace by trace, within one with the first parameter changing least; a point without a row is still
-- to be done.  The view `sweep_grid`, made with the store, has a column a parameter beside the numbers.
CREATE TABLE sweep_option (        -- what holds for all points: "options", "program"
    name TEXT PRIMARY KEY, value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sweep_trace (
    trace_no INTEGER PRIMARY KEY,
    file TEXT NOT NULL,            -- as given
    digest TEXT NOT NULL,          -- of its bytes: another file of that name is another trace
    name TEXT, device TEXT,        -- from here on as its first point said
    measured_us REAL, replay_us REAL, baseline_us REAL, step_us REAL, steps INTEGER
);
CREATE TABLE sweep_parameter (parameter_no INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE sweep_value (
    parameter_no INTEGER NOT NULL REFERENCES sweep_parameter, value_no INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (parameter_no, value_no)
) WITHOUT ROWID;
CREATE TABLE sweep (
    point INTEGER PRIMARY KEY,
    trace_no INTEGER NOT NULL REFERENCES sweep_trace,
    change TEXT NOT NULL,          -- as `gridtide whatif` names it: "streams=4 + connections=1"
    predicted_us REAL,             -- the whole run
    step_us REAL,                  -- a step of the steady state; NULL: not known
    low_us REAL, high_us REAL,     -- 9 of 10 real steps are expected between
    change_pct REAL,               -- against the trace's step_us: below 0 it is faster
    trust TEXT,                    -- high, medium, low
    assumptions TEXT,              -- a line each
    bound_by TEXT, bound_pct REAL, -- what has the largest part of the critical path, and that part
    refusal TEXT                   -- why there is no answer; the numbers are NULL then
);
