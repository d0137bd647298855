/* Steps: the host's time of each, and what its calls had the GPU do. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/stats/internal.h"

/* A step while its operations and calls pass. */
struct step {
    uint64_t first_op, behind_op, first_call, end_call;
    gt_time_ps covered_ps; /* the GPU's time up to here has been looked at */
};

struct steps {
    struct gt_stats_work *work;
    struct step *steps; /* by first operation and call: as they begin */
    size_t count, room, out_room;
};

static int read_step(struct steps *steps, struct gt_query *query, struct gt_error *error)
{
    struct gt_stats *stats = steps->work->stats;
    struct gt_stats_step *out;
    struct step step = { .covered_ps = 0 };
    gt_time_ps start_ps, end_ps;

    if (gt_query_span(query, 2, "step", gt_query_integer(query, 0), &start_ps, &end_ps, error) != 0 ||
        gt_query_number(query, 4, UINT32_MAX, "first_op", &step.first_op, error) != 0 ||
        gt_query_number(query, 5, UINT32_MAX, "behind_op", &step.behind_op, error) != 0 ||
        gt_query_number(query, 6, UINT32_MAX, "first_call", &step.first_call, error) != 0 ||
        gt_query_number(query, 7, UINT32_MAX, "behind_call", &step.end_call, error) != 0)
        return -1;
    if (end_ps < steps->work->selection.from_ps || start_ps >= steps->work->selection.to_ps ||
        step.end_call <= steps->work->selection.first_call || step.first_call >= steps->work->selection.end_call)
        return 0;
    gt_array_grow(steps->steps, steps->count, steps->room);
    steps->steps[steps->count++] = step;
    gt_array_grow(stats->steps, stats->step_count, steps->out_room);
    out = &stats->steps[stats->step_count++];
    *out = (struct gt_stats_step){ .name = gt_query_text(query, 1), .start_ps = start_ps, .end_ps = end_ps };
    return 0;
}

/* The last step that begins with that operation (or call) or before, and ends behind it; NULL where it is in none. */
static struct step *step_of(const struct steps *steps, uint64_t number, bool call)
{
    size_t low = 0, high = steps->count;
    struct step *step;

    low = GT_LOWER_BOUND(middle, low, high,
                         (call ? steps->steps[middle].first_call : steps->steps[middle].first_op) <= number);
    if (low == 0)
        return NULL;
    step = &steps->steps[low - 1];
    return number < (call ? step->end_call : step->behind_op) ? step : NULL;
}

static int add_op(struct steps *steps, struct gt_query *query, struct gt_error *error)
{
    int64_t op = gt_query_integer(query, 0);
    struct step *step = op < 0 ? NULL : step_of(steps, (uint64_t)op, false);
    struct gt_stats_step *out;
    gt_time_ps start_ps, end_ps;

    if (gt_query_span(query, 1, "operation", op, &start_ps, &end_ps, error) != 0)
        return -1;
    if (step == NULL || !gt_selection_has_op(&steps->work->selection, op))
        return 0;
    out = &steps->work->stats->steps[step - steps->steps];
    if (out->operations++ == 0)
        out->gpu_start_ps = step->covered_ps = start_ps;
    out->gpu_ps = gt_time_add(out->gpu_ps, end_ps - start_ps);
    if (end_ps > step->covered_ps) {
        out->busy_ps += end_ps - (start_ps > step->covered_ps ? start_ps : step->covered_ps);
        out->gpu_end_ps = step->covered_ps = end_ps;
    }
    return 0;
}

static int add_call(struct steps *steps, struct gt_query *query, struct gt_error *error)
{
    int64_t call = gt_query_integer(query, 0);
    struct step *step = call < 0 ? NULL : step_of(steps, (uint64_t)call, true);
    uint64_t blocked_ps;

    if (gt_query_number(query, 1, GT_TIME_LIMIT_PS, "blocked_ps", &blocked_ps, error) != 0)
        return -1;
    if (step != NULL) {
        struct gt_stats_step *out = &steps->work->stats->steps[step - steps->steps];

        out->blocked_ps = gt_time_add(out->blocked_ps, blocked_ps);
    }
    return 0;
}

static int each_row(struct steps *steps, const char *sql,
                    int (*add)(struct steps *, struct gt_query *, struct gt_error *), struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(steps->work, sql, error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        if (add(steps, query, error) != 0) {
            result = -1;
            break;
        }
    }
    gt_query_end(query);
    return result;
}

int gt_stats_steps(struct gt_stats_work *work, struct gt_error *error)
{
    struct steps steps = { .work = work };
    int result = each_row(&steps,
                          "SELECT g.range_no, g.name, t.start_ps, t.end_ps, g.first_op, g.behind_op, g.first_call,"
                          " g.behind_call FROM range g JOIN run_range t ON t.run_id = ?1 AND t.range_no = g.range_no"
                          " WHERE g.trace_id = ?2 AND g.kind = 'step' ORDER BY g.first_call, g.range_no",
                          read_step, error);

    if (result == 0 && steps.count > 0)
        result = each_row(&steps,
                          "SELECT p.op_no, p.start_ps, p.end_ps FROM run_op p"
                          " JOIN op o ON o.trace_id = ?2 AND o.op_no = p.op_no AND o.kind <> 'host_function'"
                          " WHERE p.run_id = ?1 ORDER BY p.start_ps, p.op_no",
                          add_op, error);
    if (result == 0 && steps.count > 0)
        result = each_row(&steps, "SELECT call_no, blocked_ps FROM run_call WHERE run_id = ?1", add_call, error);
    free(steps.steps);
    return result;
}

/* What threads did while they polled for the GPU. */

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
