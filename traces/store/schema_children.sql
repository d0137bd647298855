-- Version 7 of the store: which blocks launched which kernels.  Comes after schema_answers.sql; an older store that is
-- opened to add runs gets it too.
PRAGMA user_version = 7;

CREATE TABLE child_launch (        -- kernels that a block of another kernel launches
    trace_id INTEGER NOT NULL REFERENCES trace, op_no INTEGER NOT NULL,
    parent_no INTEGER NOT NULL,    -- the operation whose block does, which is before it
    block_no INTEGER NOT NULL,     -- that block, linear
    rule_no INTEGER NOT NULL,      -- which of its kernel's launches
    nth INTEGER NOT NULL,          -- of those that the block makes by this rule
    PRIMARY KEY (trace_id, op_no)
) WITHOUT ROWID;
