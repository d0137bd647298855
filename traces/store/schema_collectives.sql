-- Version 9 of the store: which kernels are ranks' parts of collectives.  Comes after schema_polls.sql; an older store that is
-- opened to add runs gets it too.
PRAGMA user_version = 9;

CREATE TABLE kernel_collective (   -- kernels that are a part of a collective
    trace_id INTEGER NOT NULL REFERENCES trace, kernel_no INTEGER NOT NULL,
    kind TEXT NOT NULL,            -- all_reduce, broadcast, ...
    bytes INTEGER NOT NULL,        -- that it is about
    ranks INTEGER NOT NULL,        -- of its group
    PRIMARY KEY (trace_id, kernel_no)
) WITHOUT ROWID;
