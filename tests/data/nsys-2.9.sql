-- Nsight Systems, schema 2.9: no ENUM_ tables, no eventSyncId, no descriptions of streams or GPUs.
PRAGMA page_size = 512;
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.9.1');
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaMemcpy_v3020'), (2, 'cudaLaunchKernel_v7000'),
    (3, 'cudaEventRecord_v3020'), (4, 'cudaStreamWaitEvent_v3020'), (5, 'cudaEventSynchronize_v3020'),
    (6, 'cudaDeviceSynchronize_v3020'), (7, 'cudaMalloc_v3020'), (8, 'scale'), (9, 'scale(float *)');
-- Process 1, thread 9.  Ids 1..10 are its calls in order.
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, eventClass INT NOT NULL,
    globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL, returnValue INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
    (1000, 1500, 0, 281474993487881, 1, 7, 0),  -- cudaMalloc
    (2000, 9000, 0, 281474993487881, 2, 1, 0),  -- cudaMemcpy
    (9500, 9600, 0, 281474993487881, 3, 2, 0),  -- cudaLaunchKernel, stream 7
    (9700, 9710, 0, 281474993487881, 4, 3, 0),  -- cudaEventRecord of event 5, stream 7
    (9720, 9730, 0, 281474993487881, 5, 3, 0),  -- cudaEventRecord of event 5, stream 7, again
    (9740, 9750, 0, 281474993487881, 6, 4, 0),  -- cudaStreamWaitEvent, stream 13, event 5
    (9760, 9770, 0, 281474993487881, 7, 3, 0),  -- cudaEventRecord of event 5, once more
    (9800, 9900, 0, 281474993487881, 8, 2, 0),  -- cudaLaunchKernel, stream 13
    (9910, 9990, 0, 281474993487881, 9, 5, 0),  -- cudaEventSynchronize
    (10000, 30000, 0, 281474993487881, 10, 6, 0); -- cudaDeviceSynchronize
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
    contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
    demangledName INT NOT NULL, shortName INT NOT NULL, launchType INT, cacheConfig INT,
    registersPerThread INT NOT NULL, gridX INT NOT NULL, gridY INT NOT NULL, gridZ INT NOT NULL,
    blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL, staticSharedMemory INT NOT NULL,
    dynamicSharedMemory INT NOT NULL, gridId INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (12000, 15000, 0, 1, 7, 3, 281474993487872, 9, 8, 0, 0, 32, 8, 2, 1, 256, 1, 1, 512, 1024, 1),
    (16000, 25000, 0, 1, 13, 8, 281474993487872, 99, 8, 0, 0, 32, 80, 1, 1, 64, 2, 1, 0, 0, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
    contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT, bytes INT NOT NULL,
    copyKind INT NOT NULL, srcKind INT, dstKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
    (3000, 8000, 0, 1, 7, 2, 281474993487872, 65536, 1, 0, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT NOT NULL, streamId INT NOT NULL,
    correlationId INT, globalPid INT, eventId INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES
    (0, 1, 7, 7, 281474993487872, 5),
    (0, 1, 7, 4, 281474993487872, 5),
    (0, 1, 7, 5, 281474993487872, 5);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT NOT NULL, end INT NOT NULL,
    deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
    syncType INT NOT NULL, eventId INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
    (9741, 9749, 0, 1, 13, 6, 281474993487872, 2, 5),
    (9911, 9989, 0, 1, 4294967295, 9, 281474993487872, 1, 5),
    (10001, 29999, 0, 1, 4294967295, 10, 281474993487872, 4, 4294967295);
