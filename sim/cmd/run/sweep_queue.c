#include "sim/cmd/run/sweep_queue.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"

void gt_sweep_queue_begin(struct gt_sweep_queue *queue, const uint64_t *todo, uint64_t count, uint32_t traces,
                          uint64_t points_a_trace)
{
    *queue = (struct gt_sweep_queue){ .trace_count = traces, .points_a_trace = points_a_trace, .left = count };
    queue->traces = gt_calloc(traces, sizeof *queue->traces);
    for (uint64_t i = count; i-- > 0;) { /* so that the first is on top */
        struct gt_sweep_queue_trace *trace = &queue->traces[todo[i] / points_a_trace];

        if (trace->points == NULL)
            trace->points = gt_calloc(points_a_trace, sizeof *trace->points);
        trace->points[trace->count++] = todo[i];
    }
}

void gt_sweep_queue_end(struct gt_sweep_queue *queue)
{
    for (uint32_t i = 0; i < queue->trace_count; i++)
        free(queue->traces[i].points);
    free(queue->traces);
    free(queue->again);
}

/* The trace with most points for each of its workers and a new one. */
static uint32_t fullest(const struct gt_sweep_queue *queue)
{
    uint32_t found = GT_NONE;
    double most = 0;

    for (uint32_t i = 0; i < queue->trace_count; i++) {
        double each = (double)queue->traces[i].count / (queue->traces[i].workers + 1);

        if (each > most) {
            most = each;
            found = i;
        }
    }
    return found;
}

bool gt_sweep_queue_next(struct gt_sweep_queue *queue, uint64_t *point, uint32_t *trace)
{
    uint32_t at = *trace, chosen = at;

    if (at == GT_NONE || queue->traces[at].count == 0) {
        chosen = fullest(queue);
        if (at != GT_NONE && chosen != GT_NONE)
            queue->traces[at].workers--;
        *trace = chosen;
        if (chosen == GT_NONE)
            return false;
        queue->traces[chosen].workers++;
    }
    *point = queue->traces[chosen].points[--queue->traces[chosen].count];
    queue->left--;
    return true;
}

bool gt_sweep_queue_again(struct gt_sweep_queue *queue, uint64_t point)
{
    struct gt_sweep_queue_trace *trace = &queue->traces[point / queue->points_a_trace];

    trace->workers -= trace->workers > 0; /* its worker is gone */
    for (uint64_t i = 0; i < queue->again_count; i++)
        if (queue->again[i] == point)
            return false;
    if (trace->dropped)
        return true;
    queue->again = gt_realloc(queue->again, queue->again_count + 1, sizeof *queue->again);
    queue->again[queue->again_count++] = point;
    trace->points[trace->count++] = point;
    queue->left++;
    return true;
}

bool gt_sweep_queue_drop(struct gt_sweep_queue *queue, uint32_t number)
{
    struct gt_sweep_queue_trace *trace = &queue->traces[number];
    bool first = !trace->dropped;

    queue->left -= trace->count;
    trace->count = 0;
    trace->dropped = true;
    return first;
}
