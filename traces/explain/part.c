#include "traces/explain/part.h"

#include <stdlib.h>

/* Which calls asked for an operation of the part. */
static void mark_calls(struct gt_loaded_run *t)
{
    t->part_calls = gt_calloc(t->call_count + 1ull, sizeof *t->part_calls);
    for (gt_op_index op = 0; op < t->op_count; op++)
        t->part_calls[t->ops[op].call] |= gt_selection_has_op(&t->part, op);
}

int gt_part_take(struct gt_loaded_run *t, struct gt_database *database, const struct gt_filter *filter,
                 struct gt_error *error)
{
    gt_selection_free(&t->part);
    free(t->part_calls);
    t->part_calls = NULL;
    if (gt_selection_find(&t->part, database, t->run_id, filter, error) != 0)
        return -1;
    if (!t->part.all)
        mark_calls(t);
    return 0;
}

bool gt_part_is_empty(const struct gt_loaded_run *t)
{
    for (uint32_t i = 0; i < t->started; i++)
        if (gt_part_has_op(t, t->by_start[i]))
            return false;
    return true;
}

bool gt_part_has_op(const struct gt_loaded_run *t, gt_op_index op)
{
    return gt_selection_has_op(&t->part, op);
}

bool gt_part_has_call(const struct gt_loaded_run *t, gt_call_index call)
{
    return t->part.all || (gt_selection_has_call(&t->part, call, t->calls[call].start_ps) &&
                           (t->part.by_time || t->part_calls[call]));
}

/* Is the work that the segment is for in the part, whenever it was done? */
static bool is_for_part(const struct gt_loaded_run *t, const struct gt_stats_segment *segment, uint32_t call)
{
    if (t->part.by_time && t->part.end_call == UINT64_MAX) /* no step */
        return true;
    if (call == GT_NONE || call < t->part.first_call || call >= t->part.end_call)
        return false;
    if (t->part.by_time)
        return true;
    return segment->op >= 0 ? gt_selection_has_op(&t->part, segment->op) : t->part_calls[call];
}

gt_time_ps gt_part_of_segment(const struct gt_loaded_run *t, const struct gt_stats_segment *segment, uint32_t call,
                              gt_time_ps *from_ps, gt_time_ps *to_ps)
{
    *from_ps = segment->from_ps;
    *to_ps = segment->to_ps;
    if (t->part.all)
        return *to_ps - *from_ps;
    if (!is_for_part(t, segment, call))
        return 0;
    *from_ps = *from_ps > t->part.from_ps ? *from_ps : t->part.from_ps;
    *to_ps = *to_ps < t->part.to_ps ? *to_ps : t->part.to_ps;
    return *to_ps > *from_ps ? *to_ps - *from_ps : 0;
}
