-- Version 6 of the store: what `gridtide whatif` says of its runs, and the files that traces came from.  Comes after
-- schema_tasks.sql; an older store that is opened to add runs gets it too.
PRAGMA user_version = 6;

CREATE TABLE trace_file (          -- as it was named to the command; no row: it did not come from a file
    trace_id INTEGER PRIMARY KEY REFERENCES trace,
    path TEXT NOT NULL
);
CREATE TABLE run_answer (          -- a simulated run that answers a question
    run_id INTEGER PRIMARY KEY REFERENCES run,
    change TEXT NOT NULL,          -- what was asked
    trust TEXT NOT NULL,           -- high, medium, low; "low, extrapolated"
    predicted_us REAL,             -- all of the run; NULL: not known
    step_us REAL,                  -- a step of the steady state; NULL: not known
    change_pct REAL,               -- of step_us against the baseline's
    bound_by TEXT NOT NULL, bound_pct REAL NOT NULL -- what the largest part of its critical path goes to
);
CREATE TABLE run_assumption (      -- what the answer rests on, a sentence a row
    run_id INTEGER NOT NULL REFERENCES run, assumption_no INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, assumption_no)
) WITHOUT ROWID;

CREATE VIEW answer AS              -- the answers of the store, the best first, with what each assumes
SELECT a.*, (SELECT group_concat(text, '; ') FROM run_assumption s WHERE s.run_id = a.run_id) AS assumptions
FROM run_answer a
JOIN run r ON r.run_id = a.run_id AND r.whole = 1
ORDER BY a.step_us IS NULL, a.step_us, a.run_id;
