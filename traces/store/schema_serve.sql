-- Requests that arrived at tenants of a GPU.  Only stores that `gridtide serve` makes have these tables.
CREATE TABLE serve (               -- a run for each policy and load
    serve_no INTEGER PRIMARY KEY,
    policy TEXT NOT NULL,          -- with its parameters
    share TEXT NOT NULL,           -- streams, sliced, mps:50,50, ...
    load REAL,                     -- asked for with --load; NULL: as in the file
    seed INTEGER NOT NULL,
    device TEXT NOT NULL
);
CREATE TABLE serve_tenant (
    serve_no INTEGER NOT NULL REFERENCES serve, tenant_no INTEGER NOT NULL,
    name TEXT NOT NULL, class TEXT NOT NULL,
    workers INTEGER NOT NULL,
    deadline_ps INTEGER,           -- NULL: none
    alone_ps INTEGER NOT NULL,     -- a request that nothing else is beside
    PRIMARY KEY (serve_no, tenant_no)
) WITHOUT ROWID;
CREATE TABLE serve_request (       -- in the order in which they were done
    serve_no INTEGER NOT NULL, tenant_no INTEGER NOT NULL, number INTEGER NOT NULL,
    arrival_ps INTEGER NOT NULL, begin_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL,
    held_ps INTEGER NOT NULL,      -- kernels held by the policy
    waited_ps INTEGER NOT NULL,    -- operations that could have run, but SMs, engines or queues were others'
    slowed_ps INTEGER NOT NULL,    -- operations took longer than alone
    blocker_no INTEGER             -- the tenant that operations waited for longest
);
CREATE TABLE serve_operation (     -- the first ones of the first run
    tenant_no INTEGER NOT NULL, lane INTEGER NOT NULL, -- lane: a stream of all workers
    kind TEXT NOT NULL, name TEXT, -- name: a kernel's
    start_ps INTEGER NOT NULL, end_ps INTEGER NOT NULL
);
CREATE TABLE serve_sms (           -- SMs that have blocks of a tenant from then on, in the same time
    tenant_no INTEGER NOT NULL, at_ps INTEGER NOT NULL, sms INTEGER NOT NULL
);
