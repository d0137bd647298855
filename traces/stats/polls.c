/* What threads did while they polled for the GPU. */
#include <inttypes.h>

#include "traces/stats/internal.h"

int gt_stats_polls(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_polls *polls = &work->stats->polls;
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT p.call_no, p.pieces, c.start_ps, c.end_ps FROM run_poll p"
                                            " JOIN run_call c ON c.run_id = ?1 AND c.call_no = p.call_no"
                                            " WHERE p.run_id = ?1 AND ?2 = ?2 ORDER BY p.call_no",
                                            error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        gt_time_ps start_ps, end_ps;
        uint64_t pieces;

        if (gt_query_span(query, 2, "call", gt_query_integer(query, 0), &start_ps, &end_ps, error) != 0 ||
            gt_query_number(query, 1, INT64_MAX, "run_poll.pieces", &pieces, error) != 0) {
            result = -1;
            break;
        }
        if (!gt_selection_has_call(&work->selection, gt_query_integer(query, 0), start_ps))
            continue;
        polls->count++;
        polls->pieces = gt_time_add(polls->pieces, pieces);
        polls->total_ps = gt_time_add(polls->total_ps, end_ps - start_ps);
    }
    gt_query_end(query);
    return result;
}
