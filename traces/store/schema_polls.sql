-- Version 8 of the store: what threads did while they polled.  Comes after schema_children.sql; an older store that is opened
-- to add runs gets it too.
PRAGMA user_version = 8;

CREATE TABLE run_poll (            -- calls of poll
    run_id INTEGER NOT NULL REFERENCES run, call_no INTEGER NOT NULL,
    pieces INTEGER NOT NULL,       -- of its own work that the thread did, beside the GPU
    PRIMARY KEY (run_id, call_no)
) WITHOUT ROWID;

CREATE VIEW poll AS                -- each poll: how long, and how much the thread did meanwhile
SELECT r.run_id, r.kind AS run_kind, p.call_no, c.start_ps / 1e6 AS start_us, c.end_ps / 1e6 AS end_us,
    (c.end_ps - c.start_ps) / 1e6 AS duration_us, p.pieces
FROM run r
JOIN run_poll p ON p.run_id = r.run_id
JOIN run_call c ON c.run_id = r.run_id AND c.call_no = p.call_no
WHERE r.whole = 1;
