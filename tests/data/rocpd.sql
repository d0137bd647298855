-- A database of rocprofv3 in small: only the tables and columns that matter, for one process. What the importer makes of it
-- is worked out in tests/unit/rocpd.c.
PRAGMA page_size = 512;
CREATE TABLE rocpd_metadata_a1 (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL);
INSERT INTO rocpd_metadata_a1 VALUES (1, 'schema_version', '3'), (2, 'uuid', '_a1');
CREATE TABLE rocpd_string_a1 (id INTEGER PRIMARY KEY, guid TEXT, string TEXT NOT NULL);
INSERT INTO rocpd_string_a1 (id, string) VALUES (1, 'HIP_RUNTIME_API'), (2, 'MARKER_CORE_RANGE_API'),
    (3, 'KERNEL_DISPATCH'), (4, 'MEMORY_COPY'), (5, 'HSA_CORE_API'), (10, 'hipStreamCreateWithFlags'),
    (11, 'hipMemcpyAsync'), (12, 'hipLaunchKernel'), (13, 'hipEventRecord'), (14, 'hipStreamWaitEvent'),
    (15, 'hipModuleLaunchKernel'), (16, 'hipStreamSynchronize'), (17, 'hipMemcpyWithStream'),
    (18, 'hipDeviceSynchronize'), (19, 'roctxThreadRangeA'), (20, 'hsa_signal_wait_scacquire'),
    (21, 'MEMORY_COPY_HOST_TO_DEVICE'), (22, 'MEMORY_COPY_DEVICE_TO_HOST'), (23, '');
CREATE TABLE rocpd_info_agent_a1 (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER,
    type_index INTEGER, name TEXT, model_name TEXT, product_name TEXT, extdata TEXT NOT NULL DEFAULT '{}');
INSERT INTO rocpd_info_agent_a1 VALUES (0, 1, 4242, 'CPU', 0, 0, 'cpu', 'A CPU', 'A CPU', '{}'),
    (1, 1, 4242, 'GPU', 1, 0, 'gfx942', 'ip discovery', 'AMD Instinct MI300X', '{"cu_count": 304, "simd_count": 1216,
     "wave_front_size": 64, "simd_per_cu": 4, "max_waves_per_simd": 8, "lds_size_in_kb": 64,
     "workgroup_max_size": 1024, "max_engine_clk_fcompute": 2100, "name": "gfx942"}');
CREATE TABLE rocpd_info_kernel_symbol_a1 (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_a1 VALUES (7, '_Z5scalePf.kd', 'scale(float*)'), (8, 'gemm.kd', '');
CREATE TABLE rocpd_event_a1 (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,
    correlation_id INTEGER, extdata TEXT NOT NULL DEFAULT '{}');
INSERT INTO rocpd_event_a1 (id, category_id, stack_id, extdata) VALUES (1, 1, 1, '{}'), (2, 1, 2, '{}'), (3, 1, 3, '{}'),
    (4, 1, 4, '{}'), (5, 1, 5, '{}'), (6, 1, 6, '{}'), (7, 1, 7, '{}'), (8, 1, 8, '{}'), (9, 1, 9, '{}'),
    (10, 2, 10, '{"message": "step"}'), (11, 2, 11, '{"message": "aten::mul, seq = 1, op_id = 2"}'),
    (12, 5, 12, '{}'), (13, 3, 3, '{}'), (14, 3, 6, '{}'), (15, 4, 2, '{}'), (16, 4, 8, '{}');
CREATE TABLE rocpd_arg_a1 (id INTEGER PRIMARY KEY, event_id INTEGER NOT NULL, position INTEGER NOT NULL,
    type TEXT NOT NULL, name TEXT NOT NULL, value TEXT);
INSERT INTO rocpd_arg_a1 (event_id, position, type, name, value) VALUES (2, 0, 'void*', 'dst', '0x7f00'),
    (2, 4, 'ihipStream_t*', 'stream', '0x0'), (3, 5, 'ihipStream_t*', 'stream', '0x0'),
    (4, 0, 'ihipEvent_t*', 'event', '0x10'), (4, 1, 'ihipStream_t*', 'stream', '0x0'),
    (5, 0, 'ihipStream_t*', 'stream', '0x5581'), (5, 1, 'ihipEvent_t*', 'event', '0x10'),
    (6, 8, 'ihipStream_t*', 'stream', '0x5581'), (7, 0, 'ihipStream_t*', 'stream', '0x5581'),
    (8, 4, 'ihipStream_t*', 'stream', '0x0');
CREATE TABLE rocpd_region_a1 (id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,
    start BIGINT NOT NULL, end BIGINT NOT NULL, name_id INTEGER NOT NULL, event_id INTEGER);
INSERT INTO rocpd_region_a1 VALUES (1, 1, 4242, 4243, 1000, 1500, 10, 1), (2, 1, 4242, 4243, 2000, 2600, 11, 2),
    (3, 1, 4242, 4243, 3000, 3400, 12, 3), (4, 1, 4242, 4243, 3500, 3600, 13, 4),
    (5, 1, 4242, 4243, 3700, 3800, 14, 5), (6, 1, 4242, 4243, 4000, 4300, 15, 6),
    (7, 1, 4242, 4243, 4400, 20500, 16, 7), (8, 1, 4242, 4243, 21000, 25000, 17, 8),
    (9, 1, 4242, 4243, 25100, 25200, 18, 9), (10, 1, 4242, 4243, 900, 26000, 19, 10),
    (11, 1, 4242, 4243, 2900, 3450, 19, 11), (12, 1, 4242, 9999, 1000, 26000, 20, 12);
CREATE TABLE rocpd_kernel_dispatch_a1 (id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,
    agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL,
    stream_id INTEGER NOT NULL, start BIGINT NOT NULL, end BIGINT NOT NULL, private_segment_size INTEGER,
    group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,
    workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL,
    grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch_a1 VALUES
    (1, 1, 4242, 4243, 1, 7, 1, 1, 0, 7000, 12000, 0, 1024, 256, 1, 1, 2048, 1, 1, 23, 13),
    (2, 1, 4242, 4243, 1, 8, 2, 2, 1, 13000, 20000, 0, NULL, 64, 2, 1, 1000, 4, 1, 23, 14);
CREATE TABLE rocpd_memory_copy_a1 (id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,
    start BIGINT NOT NULL, end BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER, src_agent_id INTEGER,
    size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_memory_copy_a1 VALUES (1, 1, 4242, 4243, 2500, 6000, 21, 1, 0, 65536, NULL, 0, NULL, 15),
    (2, 1, 4242, 4243, 22000, 24500, 22, 0, 1, 4096, NULL, 0, NULL, 16);
-- As in real files, views join the tables of all sets; the importer does not run them.
CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string_a1;
CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch_a1;
