-- Version 11 of the store: which operations read or write another GPU's memory.  Comes after schema_executables.sql; an older
-- store that is opened to add runs gets it too.
PRAGMA user_version = 11;

CREATE TABLE op_peer (             -- kernels and copies that work in another GPU's memory, as far as the trace says so
    trace_id INTEGER NOT NULL REFERENCES trace, op_no INTEGER NOT NULL,
    gpu_no INTEGER NOT NULL,       -- whose memory it is
    from_peer INTEGER NOT NULL,    -- 1: it is read; 0: written
    bytes INTEGER NOT NULL,        -- that it reads or writes there; of a kernel 0: not known
    PRIMARY KEY (trace_id, op_no)
) WITHOUT ROWID;
