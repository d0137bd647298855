#include "traces/stats/sweep.h"

_Static_assert((int)GT_CLASSES <= 32, "a bit a class");

uint32_t gt_class_of(enum gt_op_kind kind, enum gt_direction direction, enum gt_memory memory)
{
    switch (kind) {
    case GT_OP_COPY: return GT_CLASS_COPY + (uint32_t)direction * GT_MEMORIES + memory;
    case GT_OP_MEMSET: return GT_CLASS_MEMSET + (uint32_t)memory;
    case GT_OP_HOST_FUNCTION: return GT_CLASS_HOST_FUNCTION;
    default: return GT_CLASS_KERNEL;
    }
}

static bool is_copy(uint32_t class)
{
    return class < GT_CLASS_MEMSET;
}

/* Time passes with nothing starting or ending. */
static void advance(struct gt_sweep *sweep, gt_time_ps to_ps)
{
    gt_time_ps passed_ps = to_ps - sweep->now_ps;
    bool kernels = sweep->classes[GT_CLASS_KERNEL].running > 0;

    sweep->now_ps = to_ps;
    if (sweep->running == 0 || passed_ps == 0)
        return;
    sweep->busy_ps += passed_ps;
    if (sweep->copies_running > 0)
        sweep->copy_ps += passed_ps;
    if (sweep->copies_running > 0 && kernels)
        sweep->overlap_ps += passed_ps;
    for (uint32_t set = sweep->active; set != 0; set &= set - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(set);
        struct gt_sweep_class *sums = &sweep->classes[class];
        uint64_t same = is_copy(class) ? sweep->direction_running[class / GT_MEMORIES] : 0;

        sums->busy_ps += passed_ps;
        if (kernels)
            sums->kernel_overlap_ps += passed_ps;
        if (sweep->copies_running > same)
            sums->other_overlap_ps += passed_ps;
    }
}

static void count(struct gt_sweep *sweep, uint32_t class, int change)
{
    struct gt_sweep_class *sums = &sweep->classes[class];

    sums->running += (uint64_t)change;
    sweep->running += (uint64_t)change;
    if (is_copy(class)) {
        sweep->copies_running += (uint64_t)change;
        sweep->direction_running[class / GT_MEMORIES] += (uint64_t)change;
    }
    if (sums->running > 0)
        sweep->active |= UINT32_C(1) << class;
    else
        sweep->active &= ~(UINT32_C(1) << class);
}

static void end_until(struct gt_sweep *sweep, gt_time_ps time_ps)
{
    while (sweep->ends.count > 0 && sweep->ends.events[0].time_ps <= time_ps) {
        struct gt_heap_event event = gt_heap_pop(&sweep->ends);

        advance(sweep, event.time_ps);
        count(sweep, event.subject, -1);
    }
}

void gt_sweep_add(struct gt_sweep *sweep, uint32_t class, gt_time_ps start_ps, gt_time_ps end_ps)
{
    if (start_ps < sweep->now_ps)
        gt_bug("operations reach the sweep out of order");
    end_until(sweep, start_ps);
    advance(sweep, start_ps);
    if (end_ps <= start_ps)
        return;
    gt_heap_push(&sweep->ends,
                 (struct gt_heap_event){ .time_ps = end_ps, .order = sweep->sequence++, .subject = class });
    count(sweep, class, 1);
    if (sweep->running > sweep->peak)
        sweep->peak = sweep->running;
}

void gt_sweep_finish(struct gt_sweep *sweep)
{
    end_until(sweep, UINT64_MAX);
    gt_heap_free(&sweep->ends);
}
