-- Version 12 of the store: what tells whether the file that a trace came from is still the same.  Comes after
-- schema_peers.sql; an older store that is opened to add runs gets it too.
PRAGMA user_version = 12;

CREATE TABLE IF NOT EXISTS trace_source ( -- beside trace_file, of files that could be read again then
    trace_id INTEGER PRIMARY KEY REFERENCES trace,
    path TEXT NOT NULL,            -- absolute
    bytes INTEGER NOT NULL,        -- of the file
    crc32 INTEGER NOT NULL         -- of all of them
);

ALTER TABLE run_answer ADD COLUMN low_us REAL;  -- 9 of 10 real steps are expected between;
ALTER TABLE run_answer ADD COLUMN high_us REAL; -- NULL: not known, or of an older store
