#include "config.h"

#include "sim/replay/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/devices/occupancy.h"

/* Nothing is later than this by itself: engines look for work every 8 us. */
static const gt_time_ps longest_ps = 20 * UINT64_C(1000000);
/* Beside others a longer gap may hold a wait that the trace does not show; of copies it may be the engine's turn. */
static const gt_time_ps longest_beside_ps = 5 * UINT64_C(1000000), longest_copy_ps = 10 * UINT64_C(1000000);
/* Where more ran than this, they are taken to have held it up. */
enum { LOOK_BACK = 256 };

static int by_start(const void *left, const void *right, void *user)
{
    const struct gt_op *ops = user;
    gt_op_index a = *(const gt_op_index *)left, b = *(const gt_op_index *)right;

    GT_ORDER(ops[a].start_ps, ops[b].start_ps);
    GT_ORDER(a, b);
    return 0;
}

static void note_kernel(struct gt_neighbours *neighbours, const struct gt_device *device, gt_kernel_index kernel)
{
    const struct gt_kernel *k = &neighbours->workload->kernels[kernel];
    double blocks = (double)k->grid[0] * k->grid[1] * k->grid[2], room;
    struct gt_occupancy occupancy;
    struct gt_error error;

    neighbours->share[kernel] = neighbours->least[kernel] = 1;
    if (gt_occupancy_of(device, k, &occupancy, &error) != 0)
        return;
    room = (double)occupancy.blocks_per_sm * device->sms;
    neighbours->share[kernel] = blocks < room ? blocks / room : 1;
    neighbours->least[kernel] = 1 / room;
}

/* Does the trace say of each wait for an event which stream waits for which? */
static bool waits_known(const struct gt_workload *w)
{
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kind == GT_CALL_EVENT_WAIT && (w->calls[i].event == GT_NONE || w->calls[i].stream == GT_NONE))
            return false;
    return true;
}

void gt_neighbours_make(struct gt_neighbours *neighbours, const struct gt_workload *w, const struct gt_device *device)
{
    gt_time_ps latest_ps = 0;

    *neighbours = (struct gt_neighbours){
        .workload = w,
        .waits_known = waits_known(w),
        .by_start = gt_calloc(w->op_count + 1ull, sizeof *neighbours->by_start),
        .latest_ps = gt_calloc(w->op_count + 1ull, sizeof *neighbours->latest_ps),
        .share = gt_calloc(w->kernel_count + 1ull, sizeof *neighbours->share),
        .least = gt_calloc(w->kernel_count + 1ull, sizeof *neighbours->least),
    };
    for (gt_op_index i = 0; i < w->op_count; i++)
        if (gt_op_measured_end(&w->ops[i]) != GT_TIME_NONE && w->ops[i].kind != GT_OP_HOST_FUNCTION)
            neighbours->by_start[neighbours->count++] = i;
    if (neighbours->count == 0)
        return;
    qsort_r(neighbours->by_start, neighbours->count, sizeof *neighbours->by_start, by_start, w->ops);
    for (uint32_t i = 0; i < neighbours->count; i++) {
        gt_time_ps end_ps = gt_op_measured_end(&w->ops[neighbours->by_start[i]]);

        latest_ps = end_ps > latest_ps ? end_ps : latest_ps;
        neighbours->latest_ps[i] = latest_ps;
    }
    for (gt_kernel_index i = 0; i < w->kernel_count; i++)
        note_kernel(neighbours, device, i);
}

void gt_neighbours_free(struct gt_neighbours *neighbours)
{
    free(neighbours->by_start);
    free(neighbours->latest_ps);
    free(neighbours->share);
    free(neighbours->least);
    memset(neighbours, 0, sizeof *neighbours);
}

/* The first place in by_start of what started no earlier. */
static uint32_t started_before(const struct gt_neighbours *neighbours, gt_time_ps time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, neighbours->count,
                                  neighbours->workload->ops[neighbours->by_start[middle]].start_ps < time_ps);
    return low;
}

static bool on_device(const struct gt_op *op)
{
    return op->kind == GT_OP_COPY && op->direction == GT_D2D;
}

/* How much of what `op` needs the other one has: 1, all. */
static double taken(const struct gt_neighbours *neighbours, const struct gt_op *op, const struct gt_op *other)
{
    if (on_device(op) || on_device(other))
        return 1;
    if (op->kind == GT_OP_COPY || other->kind == GT_OP_COPY)
        return op->kind == other->kind && op->direction == other->direction ? 1 : 0;
    return other->kind == GT_OP_KERNEL ? neighbours->share[other->kernel] : 1;
}

enum gt_company gt_neighbours_of(const struct gt_neighbours *neighbours, gt_op_index index, gt_time_ps ready_ps)
{
    const struct gt_workload *w = neighbours->workload;
    const struct gt_op *op = &w->ops[index];
    double all = op->kind == GT_OP_KERNEL ? neighbours->least[op->kernel] : 0;
    uint32_t at = started_before(neighbours, op->start_ps), others = 0;

    for (uint32_t looked = 0; at > 0 && neighbours->latest_ps[at - 1] > ready_ps; looked++) {
        const struct gt_op *other = &w->ops[neighbours->by_start[--at]];

        if (looked == LOOK_BACK)
            return GT_COMPANY_HELD;
        if (gt_op_measured_end(other) <= ready_ps || w->streams[other->stream].gpu != w->streams[op->stream].gpu)
            continue;
        others++;
        all += taken(neighbours, op, other);
    }
    if (others == 0)
        return GT_COMPANY_NONE;
    return all <= 1 && (all < 1 || op->kind == GT_OP_KERNEL) ? GT_COMPANY_ROOM : GT_COMPANY_HELD;
}

bool gt_own_delay(const struct gt_neighbours *neighbours, gt_op_index index, gt_time_ps ready_ps)
{
    const struct gt_op *op = &neighbours->workload->ops[index];
    gt_time_ps delay_ps = op->start_ps - ready_ps;

    if (op->start_ps < ready_ps || delay_ps > longest_ps)
        return false;
    switch (gt_neighbours_of(neighbours, index, ready_ps)) {
    case GT_COMPANY_NONE: return true;
    case GT_COMPANY_ROOM:
        return neighbours->waits_known || delay_ps <= (op->kind == GT_OP_COPY ? longest_copy_ps : longest_beside_ps);
    default: return false;
    }
}
