#include "config.h"

#include "sim/replay/contexts.h"

#include <stdlib.h>

#include "sim/base/sort.h"

static int by_context(const void *left, const void *right, void *user)
{
    const struct gt_stream *streams = user;
    const struct gt_stream *a = &streams[*(const uint32_t *)left], *b = &streams[*(const uint32_t *)right];

    GT_ORDER(a->gpu, b->gpu);
    GT_ORDER(a->context, b->context);
    return 0;
}

uint32_t *gt_number_contexts(const struct gt_workload *w)
{
    uint32_t *order = gt_calloc(w->stream_count + 1ull, sizeof *order), count = 0;
    uint32_t *number = gt_calloc(w->stream_count + 1ull, sizeof *number);

    for (uint32_t i = 0; i < w->stream_count; i++)
        order[i] = i;
    if (w->stream_count > 0)
        qsort_r(order, w->stream_count, sizeof *order, by_context, w->streams);
    for (uint32_t i = 0; i < w->stream_count; i++) {
        count += i > 0 && by_context(&order[i - 1], &order[i], w->streams) != 0;
        number[order[i]] = count;
    }
    free(order);
    return number;
}
