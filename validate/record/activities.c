/* activities.c - CUPTI's buffers: what ran on the GPUs, and when. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sim/workload/workload.h"
#include "validate/record/internal.h"

/* CUPTI asks for one a context and a few to go on with; what it fills at once must fit into so many. */
enum { BUFFER_BYTES = 2 << 20, MOST_BUFFERS = 256 };

static _Atomic int buffers_out;
static _Atomic uint64_t buffer_count, buffers_ns, overhead_ns;

/* Zeros, of which the system makes pages as they are used. */
void CUPTIAPI gt_activities_give(uint8_t **buffer, size_t *bytes, size_t *records)
{
    *records = 0;
    *buffer = NULL;
    if (atomic_fetch_add(&buffers_out, 1) < MOST_BUFFERS)
        *buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*buffer == MAP_FAILED)
        *buffer = NULL;
    if (*buffer == NULL)
        atomic_fetch_sub(&buffers_out, 1); /* CUPTI counts what it drops */
    *bytes = *buffer == NULL ? 0 : BUFFER_BYTES;
}

/* What each kind of record has. */
#define COMMON(record)                                                                                               \
    .start_ns = (record)->start, .end_ns = (record)->end, .node = (record)->graphNodeId, .graph = (record)->graphId, \
    .gpu = (record)->deviceId, .context = (record)->contextId, .stream = (record)->streamId,                         \
    .correlation = (record)->correlationId, .peer_gpu = UINT32_MAX

static void write_op(const struct gt_record_op *op)
{
    struct gt_record_op *record;

    if (op->start_ns == 0 || op->end_ns == 0) /* not collected */
        return;
    record = gt_writer_begin(GT_RECORDED_OP, sizeof *record);
    if (record == NULL)
        return;
    *record = *op;
    record->head = (struct gt_record_head){ 0, GT_RECORDED_OP, 0 };
    gt_writer_end(record);
}

static void take_kernel(const CUpti_Activity *any)
{
    const CUpti_ActivityKernel10 *record = (const CUpti_ActivityKernel10 *)any;
    const struct gt_record_op op = {
        COMMON(record),
        .kind = GT_OP_KERNEL,
        .name = gt_writer_name(record->name),
        .grid = { (uint32_t)record->gridX, (uint32_t)record->gridY, (uint32_t)record->gridZ },
        .block = { (uint32_t)record->blockX, (uint32_t)record->blockY, (uint32_t)record->blockZ },
        .cluster = { record->clusterX, record->clusterY, record->clusterZ },
        .registers = record->registersPerThread,
        .static_shared_bytes = (uint32_t)record->staticSharedMemory,
        .dynamic_shared_bytes = (uint32_t)record->dynamicSharedMemory,
        .launch_type = record->launchType,
    };

    write_op(&op);
}

static uint32_t direction_of(uint8_t kind)
{
    static const uint8_t of[] = {
        [CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = GT_H2D, [CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = GT_D2H,
        [CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = GT_H2D, [CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = GT_D2H,
        [CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = GT_D2D, [CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = GT_D2D,
        [CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = GT_D2D, [CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = GT_D2D,
        [CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = GT_H2H, [CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = GT_P2P,
    };

    return kind != CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN && kind < sizeof of ? of[kind] : GT_DIRECTIONS;
}

static uint32_t memory_of(uint16_t kind)
{
    static const uint8_t of[] = {
        [CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN] = GT_MEMORY_UNKNOWN,
        [CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE] = GT_MEMORY_PAGEABLE,
        [CUPTI_ACTIVITY_MEMORY_KIND_PINNED] = GT_MEMORY_PINNED,
        [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = GT_MEMORY_DEVICE,
        [CUPTI_ACTIVITY_MEMORY_KIND_ARRAY] = GT_MEMORY_DEVICE,
        [CUPTI_ACTIVITY_MEMORY_KIND_MANAGED] = GT_MEMORY_MANAGED,
        [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC] = GT_MEMORY_DEVICE,
        [CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC] = GT_MEMORY_MANAGED,
    };

    return kind < sizeof of ? of[kind] : GT_MEMORY_UNKNOWN;
}

static void take_copy(const CUpti_Activity *any)
{
    const CUpti_ActivityMemcpy6 *record = (const CUpti_ActivityMemcpy6 *)any;
    const struct gt_record_op op = {
        COMMON(record),
        .kind = GT_OP_COPY,
        .bytes = record->bytes,
        .direction = direction_of(record->copyKind),
        .source = memory_of(record->srcKind),
        .destination = memory_of(record->dstKind),
    };

    write_op(&op);
}

static void take_peer_copy(const CUpti_Activity *any)
{
    const CUpti_ActivityMemcpyPtoP4 *record = (const CUpti_ActivityMemcpyPtoP4 *)any;
    struct gt_record_op op = {
        COMMON(record),
        .kind = GT_OP_COPY,
        .bytes = record->bytes,
        .direction = GT_P2P,
        .source = memory_of(record->srcKind),
        .destination = memory_of(record->dstKind),
    };

    op.source_gpu = record->srcDeviceId;
    op.peer_gpu = record->dstDeviceId != record->deviceId ? record->dstDeviceId : record->srcDeviceId;
    write_op(&op);
}

static void take_memset(const CUpti_Activity *any)
{
    const CUpti_ActivityMemset4 *record = (const CUpti_ActivityMemset4 *)any;
    const struct gt_record_op op = {
        COMMON(record),
        .kind = GT_OP_MEMSET,
        .bytes = record->bytes,
        .destination = memory_of(record->memoryKind),
    };

    write_op(&op);
}

static void take_overhead(const CUpti_Activity *any)
{
    const CUpti_ActivityOverhead3 *record = (const CUpti_ActivityOverhead3 *)any;

    struct gt_record_overhead *written;

    if (record->end <= record->start)
        return;
    atomic_fetch_add(&overhead_ns, record->end - record->start);
    written = gt_writer_begin(GT_RECORDED_OVERHEAD, sizeof *written);
    if (written == NULL)
        return;
    written->start_ns = record->start;
    written->end_ns = record->end;
    written->kind = (uint32_t)record->overheadKind;
    written->correlation = record->correlationId;
    gt_writer_end(written);
}

/* clang-format off */
static const struct { CUpti_ActivityKind kind; void (*take)(const CUpti_Activity *any); } takers[] = {
    { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, take_kernel },
    { CUPTI_ACTIVITY_KIND_MEMCPY, take_copy },
    { CUPTI_ACTIVITY_KIND_MEMCPY2, take_peer_copy },
    { CUPTI_ACTIVITY_KIND_MEMSET, take_memset },
    { CUPTI_ACTIVITY_KIND_OVERHEAD, take_overhead },
};
/* clang-format on */
enum { TAKERS = sizeof takers / sizeof takers[0] };

static void tell_dropped(CUcontext context, uint32_t stream)
{
    struct gt_record_dropped *record;
    size_t dropped = 0;

    if (gt_api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) != CUPTI_SUCCESS || dropped == 0)
        return;
    record = gt_writer_begin(GT_RECORDED_DROPPED, sizeof *record);
    if (record == NULL)
        return;
    record->count = dropped;
    record->by = GT_DROPPED_BY_CUPTI;
    gt_writer_end(record);
}

/* On a thread of CUPTI's own, or on the one that hands over. */
void CUPTIAPI gt_activities_take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    uint64_t start_ns = gt_writer_now_ns();
    CUpti_Activity *record = NULL;

    (void)bytes;
    while (valid > 0 && gt_api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        for (size_t i = 0; i < TAKERS; i++)
            if (takers[i].kind == record->kind)
                takers[i].take(record);
    tell_dropped(context, stream);
    munmap(buffer, BUFFER_BYTES);
    atomic_fetch_sub(&buffers_out, 1);
    atomic_fetch_add(&buffer_count, 1);
    atomic_fetch_add(&buffers_ns, gt_writer_now_ns() - start_ns);
}

void gt_activities_enable(bool on)
{
    for (size_t i = 0; i < TAKERS; i++) {
        CUptiResult result =
            on ? gt_api.cuptiActivityEnable(takers[i].kind) : gt_api.cuptiActivityDisable(takers[i].kind);
        const char *text = NULL;

        if (result == CUPTI_SUCCESS || !on)
            continue;
        gt_api.cuptiGetResultString(result, &text);
        gt_writer_problem("CUPTI records no activity of kind %d: %s", (int)takers[i].kind,
                          text != NULL ? text : "unknown error");
    }
}

void gt_activities_cost(uint64_t *buffers, uint64_t *total_ns, uint64_t *of_cupti_ns)
{
    *buffers = atomic_load(&buffer_count);
    *total_ns = atomic_load(&buffers_ns);
    *of_cupti_ns = atomic_load(&overhead_ns);
}
