-- Version 13 of the store: plain fields of traces (sim/workload/plain_fields.h) that have no column of their own.  Comes after
-- schema_files.sql; an older store that is opened to add runs gets it too.
PRAGMA user_version = 13;

CREATE TABLE IF NOT EXISTS plain_value ( -- one field of a kernel, call, operation or range; none where it is 0
    trace_id INTEGER NOT NULL REFERENCES trace,
    element TEXT NOT NULL,         -- kernel, call, op, range
    number INTEGER NOT NULL,       -- kernel_no, call_no, op_no, range_no
    field TEXT NOT NULL,           -- as in traces/FORMAT.md, times with _ps
    value INTEGER NOT NULL,
    PRIMARY KEY (trace_id, element, number, field)
) WITHOUT ROWID;
