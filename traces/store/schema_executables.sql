-- Version 10 of the store: which graph launches are of the same executable graph.  Comes after schema_collectives.sql; an older
-- store that is opened to add runs gets it too.
PRAGMA user_version = 10;

CREATE TABLE call_executable (     -- graph launches of which that is known
    trace_id INTEGER NOT NULL REFERENCES trace, call_no INTEGER NOT NULL,
    executable TEXT NOT NULL,      -- of the process that the call's thread is of: the program's or the profiler's name of it
    PRIMARY KEY (trace_id, call_no)
) WITHOUT ROWID;
