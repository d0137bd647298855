/* Copies over the link that no kernel ran beside. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/explain/explain.h"
#include "traces/explain/part.h"

const char *const gt_copy_why_names[GT_COPY_WHYS] = {
    [GT_COPY_PAGEABLE] = "pageable",
    [GT_COPY_SYNCHRONOUS] = "synchronous",
    [GT_COPY_DEFAULT_STREAM] = "default-stream",
    [GT_COPY_ENGINE] = "engine",
    [GT_COPY_ONE_STREAM] = "one-stream",
    [GT_COPY_SAME_STREAM] = "same-stream",
    [GT_COPY_ALONE] = "nothing-to-run",
};
const char *const gt_copy_why_helps[GT_COPY_WHYS] = {
    [GT_COPY_PAGEABLE] = "the host stages copies of pageable memory: allocate it pinned (pin_memory=True)",
    [GT_COPY_SYNCHRONOUS] = "the call waits for the copy: use cudaMemcpyAsync (non_blocking=True) with pinned "
                            "memory",
    [GT_COPY_DEFAULT_STREAM] =
        "the default stream and blocking streams wait for each other: use a stream made with cudaStreamNonBlocking",
    [GT_COPY_ENGINE] = "each direction has one copy engine, which runs one copy at a time",
    [GT_COPY_ONE_STREAM] = "all work is in one stream: copy in another stream, ordered by events",
    [GT_COPY_SAME_STREAM] = "kernels of the same stream wait for the copy: copy the data of the next step in "
                            "another stream",
    [GT_COPY_ALONE] = "no kernel was submitted before: launch kernels first, or copy earlier",
};

/* Times in which any kernel of a GPU ran, joined, in order. */
struct busy {
    gt_time_ps from_ps, to_ps;
};
struct busy_times {
    struct busy *times;
    size_t count;
};

static struct busy_times *find_busy(const struct gt_loaded_run *t)
{
    struct busy_times *of_gpu = gt_calloc(t->gpu_count + 1ull, sizeof *of_gpu);
    uint32_t *kernels = gt_calloc(t->gpu_count + 1ull, sizeof *kernels);

    for (uint32_t i = 0; i < t->started; i++)
        kernels[t->streams[t->ops[t->by_start[i]].stream].gpu] += t->ops[t->by_start[i]].kind == GT_OP_KERNEL;
    for (uint32_t i = 0; i < t->gpu_count; i++)
        of_gpu[i].times = gt_calloc(kernels[i] + 1ull, sizeof *of_gpu[i].times);
    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];
        struct busy_times *gpu = &of_gpu[t->streams[op->stream].gpu];

        if (op->kind != GT_OP_KERNEL)
            continue;
        if (gpu->count > 0 && op->start_ps <= gpu->times[gpu->count - 1].to_ps) {
            if (op->end_ps > gpu->times[gpu->count - 1].to_ps)
                gpu->times[gpu->count - 1].to_ps = op->end_ps;
        } else {
            gpu->times[gpu->count++] = (struct busy){ op->start_ps, op->end_ps };
        }
    }
    free(kernels);
    return of_gpu;
}

/* How much of a stretch no kernel ran. */
static gt_time_ps bare_ps(const struct busy_times *gpu, gt_time_ps from_ps, gt_time_ps to_ps)
{
    size_t low = 0, high = gpu->count;
    gt_time_ps bare = to_ps - from_ps;

    low = GT_LOWER_BOUND(middle, low, high, gpu->times[middle].to_ps <= from_ps);
    for (; low < gpu->count && gpu->times[low].from_ps < to_ps; low++) {
        gt_time_ps begin = gpu->times[low].from_ps > from_ps ? gpu->times[low].from_ps : from_ps;
        gt_time_ps end = gpu->times[low].to_ps < to_ps ? gpu->times[low].to_ps : to_ps;

        bare -= end - begin;
    }
    return bare;
}

/* Streams that a GPU's operations are in: 0, 1, or 2 for more. */
static uint8_t *count_streams(const struct gt_loaded_run *t)
{
    uint8_t *streams = gt_calloc(t->gpu_count + 1ull, sizeof *streams);
    bool *seen = gt_calloc(t->stream_count + 1ull, sizeof *seen);

    for (uint32_t i = 0; i < t->started; i++) {
        gt_stream_index stream = t->ops[t->by_start[i]].stream;
        uint8_t *count = &streams[t->streams[stream].gpu];

        *count += !seen[stream] && *count < 2;
        seen[stream] = true;
    }
    free(seen);
    return streams;
}

/* Was a kernel of its stream waiting behind it, or did one end just before it that it waited for? */
static bool beside_kernel(const struct gt_loaded_run *t, gt_op_index index, gt_op_index behind)
{
    const struct gt_loaded_op *op = &t->ops[index];

    if (behind != GT_NONE && t->ops[behind].kind == GT_OP_KERNEL && t->ops[behind].submit_ps < op->end_ps)
        return true;
    return op->before != GT_NONE && t->ops[op->before].kind == GT_OP_KERNEL &&
           op->submit_ps < t->ops[op->before].end_ps;
}

static enum gt_copy_why why_bare(const struct gt_loaded_run *t, gt_op_index index, gt_op_index behind,
                                 uint8_t streams)
{
    const struct gt_loaded_op *op = &t->ops[index];
    const struct gt_loaded_call *call = &t->calls[op->call];

    if (call->blocked_ps > 0 && call->cause_op == index)
        return op->memory == GT_MEMORY_PINNED ? GT_COPY_SYNCHRONOUS : GT_COPY_PAGEABLE;
    if (op->memory == GT_MEMORY_PAGEABLE)
        return GT_COPY_PAGEABLE;
    if (t->streams[op->stream].flags & GT_STREAM_LEGACY_DEFAULT)
        return GT_COPY_DEFAULT_STREAM;
    if (op->wait_ps[GT_WAIT_ENGINE] > (op->end_ps - op->start_ps) / 2)
        return GT_COPY_ENGINE;
    if (streams < 2)
        return GT_COPY_ONE_STREAM;
    return beside_kernel(t, index, behind) ? GT_COPY_SAME_STREAM : GT_COPY_ALONE;
}

static int by_bare(const void *a, const void *b)
{
    const struct gt_bare_copies *left = a, *right = b;

    if (left->bare_ps != right->bare_ps)
        return left->bare_ps > right->bare_ps ? -1 : 1;
    return (left->example > right->example) - (left->example < right->example);
}

static gt_op_index *find_behind(const struct gt_loaded_run *t)
{
    gt_op_index *behind = gt_realloc(NULL, t->op_count + 1ull, sizeof *behind);

    memset(behind, 0xff, (t->op_count + 1ull) * sizeof *behind); /* GT_NONE */
    for (uint32_t i = 0; i < t->started; i++)
        if (t->ops[t->by_start[i]].before != GT_NONE)
            behind[t->ops[t->by_start[i]].before] = t->by_start[i];
    return behind;
}

struct gt_bare_copies *gt_bare_copies(const struct gt_loaded_run *t, const struct gt_breakdown *breakdown,
                                      size_t *count)
{
    enum { ROWS = 2 * (GT_MEMORIES + 1) * GT_COPY_WHYS };
    struct gt_bare_copies *rows = gt_calloc(ROWS, sizeof *rows);
    gt_time_ps most_ps[ROWS] = { 0 };
    struct busy_times *busy = find_busy(t);
    uint8_t *streams = count_streams(t);
    gt_op_index *behind = find_behind(t);

    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index index = t->by_start[i];
        const struct gt_loaded_op *op = &t->ops[index];
        gt_gpu_index gpu = t->streams[op->stream].gpu;
        enum gt_copy_why why;
        gt_time_ps alone_ps;
        size_t row;

        if (op->kind != GT_OP_COPY || (op->direction != GT_H2D && op->direction != GT_D2H) ||
            (breakdown == NULL ? !gt_part_has_op(t, index) : !gt_breakdown_counts_op(breakdown, t, index)))
            continue;
        alone_ps = bare_ps(&busy[gpu], op->start_ps, op->end_ps);
        if (alone_ps == 0)
            continue;
        why = why_bare(t, index, behind[index], streams[gpu]);
        row = ((op->direction == GT_D2H) * (GT_MEMORIES + 1ull) + op->memory) * GT_COPY_WHYS + why;
        rows[row].direction = op->direction;
        rows[row].memory = op->memory;
        rows[row].why = why;
        rows[row].times++;
        rows[row].bytes += op->bytes;
        rows[row].bare_ps += alone_ps;
        if (alone_ps > most_ps[row])
            rows[row].example = index;
        most_ps[row] = alone_ps > most_ps[row] ? alone_ps : most_ps[row];
    }
    *count = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].times > 0)
            rows[(*count)++] = rows[i];
    qsort(rows, *count, sizeof *rows, by_bare);
    for (uint32_t i = 0; i < t->gpu_count; i++)
        free(busy[i].times);
    free(busy);
    free(streams);
    free(behind);
    return rows;
}
