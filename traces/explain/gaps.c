/* Idle gaps of each GPU. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "traces/explain/explain.h"
#include "traces/explain/part.h"

static int by_length(const void *a, const void *b)
{
    const struct gt_gap *left = a, *right = b;
    gt_time_ps left_ps = left->to_ps - left->from_ps, right_ps = right->to_ps - right->from_ps;

    if (left_ps != right_ps)
        return left_ps > right_ps ? -1 : 1;
    return (left->from_ps > right->from_ps) - (left->from_ps < right->from_ps);
}

struct gt_gap *gt_gaps(const struct gt_loaded_run *t, gt_time_ps least_ps, size_t *count)
{
    gt_op_index *last = gt_calloc(t->gpu_count + 1ull, sizeof *last); /* the one of each GPU that ends last, plus 1 */
    struct gt_gap *gaps = NULL;
    size_t room = 0;

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index index = t->by_start[i];
        const struct gt_loaded_op *op = &t->ops[index];
        gt_gpu_index gpu = t->streams[op->stream].gpu;
        gt_time_ps idle_ps = last[gpu] == 0 ? op->start_ps : t->ops[last[gpu] - 1].end_ps;

        if (last[gpu] != 0 && op->start_ps > idle_ps && op->start_ps - idle_ps >= least_ps &&
            gt_part_has_op(t, index)) {
            gt_array_grow(gaps, *count, room);
            gaps[(*count)++] = (struct gt_gap){ gpu, idle_ps, op->start_ps, last[gpu] - 1, index, { .op = GT_NONE } };
        }
        if (last[gpu] == 0 || op->end_ps > idle_ps)
            last[gpu] = index + 1;
    }
    free(last);
    if (*count > 0)
        qsort(gaps, *count, sizeof *gaps, by_length);
    for (size_t i = 0; i < *count; i++)
        gt_why(t, gaps[i].after, gaps[i].from_ps, gaps[i].to_ps, &gaps[i].hold);
    return gaps;
}
