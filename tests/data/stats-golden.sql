-- A run small enough to work out by hand; goes on top of traces/store/schema.sql.  Times in us times 1e6.
--
-- us      0    4     10 12       20 22 24 26 28 30 32 34 36  39 41 43 45
-- s0           |copy0|---------- A op1 ------|                |-- A op5 --|
-- s1                    |--- B op2 ---| |d2h op3--|              |op6|
-- s2                                         |h2d op4|
-- thread 0: c0 0-2, c1 2-3, own work c2 3-5, c3 6-7, c4 7-8, c5 8-9, sync c6 9-34, c7 36-37; thread 1: c8 37-38
INSERT INTO device VALUES (1, 'toy', 2, 32, 1024);
INSERT INTO device_key VALUES
    (1, 'chip.sms', '2'), (1, 'sm.threads', '1024'), (1, 'sm.warps', '32'), (1, 'sm.blocks', '4'),
    (1, 'sm.registers', '65536'), (1, 'sm.register_unit_per_warp', '256'), (1, 'sm.shared_bytes', '65536'),
    (1, 'sm.shared_reserved_bytes', '0'), (1, 'sm.shared_unit_bytes', '128'),
    (1, 'a.key_of_a_later_version', '1');
INSERT INTO trace (trace_id, name, source) VALUES (1, 'golden', 'gridtide');
INSERT INTO gpu VALUES (1, 0, 0, 'toy');
INSERT INTO stream VALUES
    (1, 0, 0, 0, 7, NULL, 0, 0), (1, 1, 0, 0, 13, 'second', 0, 0), (1, 2, 0, 0, 14, NULL, 0, 0),
    (1, 3, 0, 0, 15, 'never used', 0, 0);
INSERT INTO thread VALUES (1, 0, 100, 100, 'main'), (1, 1, 100, 101, NULL);
-- A: 8 blocks of 4 warps: 4 fit an SM ("blocks"), 16 of 32 warps, 8 / (2 SMs * 4) = 1 wave.
-- B: 40,000 B shared, rounded to 40,064: one fits an SM, 2 of 32 warps, 2 / 2 = 1 wave.
INSERT INTO kernel VALUES
    (1, 0, 'A', 8, 1, 1, 128, 1, 1, 16, 0, 0),
    (1, 1, 'B', 2, 1, 1, 64, 1, 1, 16, 40000, 0),
    (1, 2, 'A', 1, 1, 1, 32, 1, 1, 16, 0, 0);
INSERT INTO call VALUES
    (1, 0, 0, 'copy', 'cudaMemcpyAsync', 0), (1, 1, 0, 'launch', 'cudaLaunchKernel', 0),
    (1, 2, 0, 'host_work', NULL, NULL), (1, 3, 0, 'launch', 'cudaLaunchKernel', 1),
    (1, 4, 0, 'copy', 'cudaMemcpyAsync', 1), (1, 5, 0, 'copy', 'cudaMemcpyAsync', 2),
    (1, 6, 0, 'device_sync', 'cudaDeviceSynchronize', NULL), (1, 7, 0, 'launch', 'cudaLaunchKernel', 0),
    (1, 8, 1, 'memset', NULL, 1);
INSERT INTO op VALUES
    (1, 0, 0, 'copy', 0, NULL, 'h2d', 'pinned', 10000), (1, 1, 1, 'kernel', 0, 0, NULL, NULL, NULL),
    (1, 2, 3, 'kernel', 1, 1, NULL, NULL, NULL), (1, 3, 4, 'copy', 1, NULL, 'd2h', 'pageable', 30000),
    (1, 4, 5, 'copy', 2, NULL, 'h2d', 'pinned', 20000), (1, 5, 7, 'kernel', 0, 2, NULL, NULL, NULL),
    (1, 6, 8, 'memset', 1, NULL, NULL, 'device', 1000);

INSERT INTO run VALUES (1, 1, 1, 'simulated', 'blocks=on seed=1', 0, 1);
INSERT INTO run_call VALUES
    (1, 0, 0, 2e6, 0, NULL), (1, 1, 2e6, 3e6, 0, NULL), (1, 2, 3e6, 5e6, 0, NULL), (1, 3, 6e6, 7e6, 0, NULL),
    (1, 4, 7e6, 8e6, 0, NULL), (1, 5, 8e6, 9e6, 0, NULL), (1, 6, 9e6, 34e6, 24e6, 4), (1, 7, 36e6, 37e6, 0, NULL),
    (1, 8, 37e6, 38e6, 0, NULL);
--   run op submit   start   end    host  stream event queue engine resource  cause: call, op
INSERT INTO run_op VALUES
    (1, 0, 1e6,    4e6,  10e6,  4e6,   0,   0,   0,    0,   0,     0, NULL),
    (1, 1, 2.5e6, 10e6,  26e6,    0,   0,   0,   0,    0,   0,  NULL, 0),
    (1, 2, 6.5e6, 12e6,  22e6,  7e6,   0, 5e6,   0,    0,   0,  NULL, 0),
    (1, 3, 7.5e6, 24e6,  30e6,    0, 1e6,   0,   0,  1e6,   0,  NULL, 2),
    (1, 4, 8.5e6, 28e6,  32e6,  8e6,   0,   0,   0, 20e6,   0,  NULL, 1),
    (1, 5, 36.5e6, 39e6, 45e6, 12e6,   0,   0,   0,    0, 1e6,     7, NULL),
    (1, 6, 37.5e6, 41e6, 43e6,  7e6,   0,   0, 4e6,    0,   0,     8, NULL);
-- A on both SMs, four blocks each, those of SM 1 shorter; B one each; the last A on SM 0.
INSERT INTO run_block VALUES
    (1, 1, 0, 0, 0, 4, 10e6, 26e6), (1, 1, 0, 1, 4, 4, 10e6, 18e6),
    (1, 2, 0, 0, 0, 1, 12e6, 22e6), (1, 2, 0, 1, 1, 1, 12e6, 22e6),
    (1, 5, 0, 0, 0, 1, 39e6, 45e6);
-- Bins of 10 us. SM 0, bin 1: 16 warps * 10 us + 2 * 8; bin 2: 16 * 6 + 2 * 2; bins 3, 4: 1 * 1, 1 * 5.
INSERT INTO run_bin VALUES
    (1, 0, 0, 1, 176e6, 48e6), (1, 0, 0, 2, 100e6, 26e6), (1, 0, 0, 3, 1e6, 1e6), (1, 0, 0, 4, 5e6, 5e6),
    (1, 0, 1, 1, 144e6, 40e6), (1, 0, 1, 2, 4e6, 2e6);
INSERT INTO counter VALUES (1, 'bin_ps', 10e6), (1, 'blocks_dropped', 0);

-- What was recorded: two operations, no reasons, no causes.
INSERT INTO run VALUES (2, 1, 1, 'measured', '', 0, 1);
INSERT INTO run_call VALUES (2, 0, 0, 2e6, 0, NULL), (2, 1, 2e6, 3e6, 0, NULL);
INSERT INTO run_op (run_id, op_no, start_ps, end_ps) VALUES (2, 0, 5e6, 11e6), (2, 1, 12e6, 27e6);
-- A run that was never finished does not count.
INSERT INTO run VALUES (3, 1, 1, 'simulated', '', 0, 0);
