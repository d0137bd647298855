#include "sim/cmd/run/sweep_deal.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"

void gt_deal_begin(struct gt_deal *deal, const uint64_t *todo, uint64_t count, uint32_t traces,
                   uint64_t points_a_trace)
{
    *deal = (struct gt_deal){ .trace_count = traces, .points_a_trace = points_a_trace, .left = count };
    deal->traces = gt_calloc(traces, sizeof *deal->traces);
    for (uint64_t i = count; i-- > 0;) { /* so that the first is on top */
        struct gt_deal_trace *trace = &deal->traces[todo[i] / points_a_trace];

        if (trace->points == NULL)
            trace->points = gt_calloc(points_a_trace, sizeof *trace->points);
        trace->points[trace->count++] = todo[i];
    }
}

void gt_deal_end(struct gt_deal *deal)
{
    for (uint32_t i = 0; i < deal->trace_count; i++)
        free(deal->traces[i].points);
    free(deal->traces);
    free(deal->again);
}

/* The trace with most points for each of its workers and a new one. */
static uint32_t fullest(const struct gt_deal *deal)
{
    uint32_t found = GT_NONE;
    double most = 0;

    for (uint32_t i = 0; i < deal->trace_count; i++) {
        double each = (double)deal->traces[i].count / (deal->traces[i].workers + 1);

        if (each > most) {
            most = each;
            found = i;
        }
    }
    return found;
}

bool gt_deal_next(struct gt_deal *deal, uint64_t *point, uint32_t *trace)
{
    uint32_t at = *trace, chosen = at;

    if (at == GT_NONE || deal->traces[at].count == 0) {
        chosen = fullest(deal);
        if (at != GT_NONE && chosen != GT_NONE)
            deal->traces[at].workers--;
        *trace = chosen;
        if (chosen == GT_NONE)
            return false;
        deal->traces[chosen].workers++;
    }
    *point = deal->traces[chosen].points[--deal->traces[chosen].count];
    deal->left--;
    return true;
}

bool gt_deal_again(struct gt_deal *deal, uint64_t point)
{
    struct gt_deal_trace *trace = &deal->traces[point / deal->points_a_trace];

    trace->workers -= trace->workers > 0; /* its worker is gone */
    for (uint64_t i = 0; i < deal->again_count; i++)
        if (deal->again[i] == point)
            return false;
    if (trace->dropped)
        return true;
    deal->again = gt_realloc(deal->again, deal->again_count + 1, sizeof *deal->again);
    deal->again[deal->again_count++] = point;
    trace->points[trace->count++] = point;
    deal->left++;
    return true;
}

bool gt_deal_drop(struct gt_deal *deal, uint32_t number)
{
    struct gt_deal_trace *trace = &deal->traces[number];
    bool first = !trace->dropped;

    deal->left -= trace->count;
    trace->count = 0;
    trace->dropped = true;
    return first;
}
