-- A database of rocmProfileData in small.  Two kernels run in streams of their own, the second one's grid is in threads; a copy
-- to the GPU that knows its stream, one back that does not; a memset, a barrier and a kernel that no call is known of.
CREATE TABLE "rocpd_string" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipMemcpyAsync'), (3, 'hipLaunchKernel'), (4, 'hipExtModuleLaunchKernel'),
    (5, 'hipDeviceSynchronize'), (6, 'hipMemcpy'), (7, 'UserMarker'), (8, 'step 0'), (9, 'overhead'), (10, 'KernelExecution'),
    (11, 'CopyHostToDevice'), (12, 'CopyDeviceToHost'), (13, 'FillBuffer'), (14, 'Barrier'), (15, 'scale(float*)'), (16, 'gemm'),
    (17, 'hipMemsetAsync'), (18, 'late');
CREATE TABLE "rocpd_api" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "pid" integer NOT NULL, "tid" integer NOT NULL,
    "start" integer NOT NULL, "end" integer NOT NULL, "apiName_id" integer NOT NULL, "args_id" integer NOT NULL);
INSERT INTO rocpd_api VALUES (8589934601, 7, 8, 1000, 60000, 7, 8), (8589934602, 7, 8, 2000, 2500, 2, 1),
    (8589934603, 7, 8, 3000, 3400, 3, 1), (8589934604, 7, 8, 3500, 3900, 4, 1), (8589934605, 7, 8, 4000, 4100, 17, 1),
    (8589934606, 7, 8, 4200, 40000, 5, 1), (8589934607, 7, 8, 41000, 45000, 6, 1), (8589934608, 7, 9, 50000, 51000, 9, 1);
CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "gpuId" integer NOT NULL, "queueId" integer NOT NULL,
    "sequenceId" integer NOT NULL, "completionSignal" varchar(18) NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL,
    "description_id" integer NOT NULL, "opType_id" integer NOT NULL);
INSERT INTO rocpd_op VALUES (4294967297, 0, 0, 0, '', 3000, 9000, 1, 11), (4294967298, 0, 1, 0, '', 9500, 14000, 15, 10),
    (4294967299, 0, 2, 0, '', 9600, 30000, 16, 10), (4294967300, 0, 1, 0, '', 14100, 15000, 1, 13),
    (4294967301, 0, 0, 0, '', 42000, 44000, 1, 12), (4294967302, 0, 0, 0, '', 44100, 44200, 1, 14),
    (4294967303, 0, 3, 0, '', 31000, 32000, 18, 10);
CREATE TABLE "rocpd_api_ops" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "api_id" integer NOT NULL, "op_id" integer NOT NULL);
INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (8589934602, 4294967297), (8589934603, 4294967298), (8589934604, 4294967299),
    (8589934605, 4294967300), (8589934607, 4294967301);
CREATE TABLE "rocpd_kernelapi" ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "gridX" integer NOT NULL,
    "gridY" integer NOT NULL, "gridZ" integer NOT NULL, "workgroupX" integer NOT NULL, "workgroupY" integer NOT NULL,
    "workgroupZ" integer NOT NULL, "groupSegmentSize" integer NOT NULL, "privateSegmentSize" integer NOT NULL,
    "kernelArgAddress" varchar(18) NOT NULL, "aquireFence" varchar(8) NOT NULL, "releaseFence" varchar(8) NOT NULL,
    "codeObject_id" integer NOT NULL, "kernelName_id" integer NOT NULL);
INSERT INTO rocpd_kernelapi VALUES (8589934603, '0x7f01', 8, 1, 1, 256, 1, 1, 1024, 0, '', '', '', 0, 15),
    (8589934604, '0x7f02', 1000, 4, 1, 64, 2, 1, 0, 0, '', '', '', 0, 16);
CREATE TABLE "rocpd_copyapi" ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "size" integer NOT NULL,
    "width" integer NOT NULL, "height" integer NOT NULL, "kind" integer NOT NULL, "dst" varchar(18) NOT NULL,
    "src" varchar(18) NOT NULL, "dstDevice" integer NOT NULL, "srcDevice" integer NOT NULL, "sync" bool NOT NULL, "pinned" bool NOT NULL);
INSERT INTO rocpd_copyapi VALUES (8589934602, '0x0', 1048576, '', '', 1, '0x1', '0x2', 0, 0, 0, 0),
    (8589934607, '', 4096, '', '', 2, '0x2', '0x1', 0, 0, 1, 0);
