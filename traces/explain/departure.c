#include "traces/explain/departure.h"

/* As allowed of starts in comparisons: 1 % of the makespan, or 2 us. */
static const gt_time_ps least_ps = 2 * UINT64_C(1000000);
enum { MAKESPAN_PARTS = 100 };

struct runs {
    struct gt_loaded_run *simulated, *measured;
    gt_time_ps simulated_first_ps, measured_first_ps; /* of the operations that both have */
};

static bool in_both(const struct runs *runs, gt_op_index op)
{
    return op < runs->simulated->op_count && runs->simulated->ops[op].there && runs->measured->ops[op].there;
}

static void align(struct runs *runs)
{
    runs->simulated_first_ps = runs->measured_first_ps = GT_TIME_NONE;
    for (uint32_t i = 0; i < runs->measured->started; i++) {
        gt_op_index op = runs->measured->by_start[i];

        if (!in_both(runs, op))
            continue;
        if (runs->simulated->ops[op].start_ps < runs->simulated_first_ps)
            runs->simulated_first_ps = runs->simulated->ops[op].start_ps;
        if (runs->measured->ops[op].start_ps < runs->measured_first_ps)
            runs->measured_first_ps = runs->measured->ops[op].start_ps;
    }
}

static gt_time_ps between(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a - b : b - a;
}

static bool is_off(const struct runs *runs, gt_op_index op, struct gt_departure *departure)
{
    const struct gt_loaded_op *simulated = &runs->simulated->ops[op], *measured = &runs->measured->ops[op];
    gt_time_ps allowed_ps = (runs->measured->last_ps - runs->measured->first_ps) / MAKESPAN_PARTS;

    allowed_ps = allowed_ps > least_ps ? allowed_ps : least_ps;
    departure->op = op;
    departure->at_ps = measured->start_ps - runs->measured_first_ps;
    departure->in_length = false;
    departure->recorded_ps = departure->at_ps;
    departure->simulated_ps = simulated->start_ps - runs->simulated_first_ps;
    if (between(departure->recorded_ps, departure->simulated_ps) > allowed_ps)
        return true;
    departure->in_length = true;
    departure->recorded_ps = measured->end_ps - measured->start_ps;
    departure->simulated_ps = simulated->end_ps - simulated->start_ps;
    return between(departure->recorded_ps, departure->simulated_ps) > allowed_ps;
}

static void find_hold(const struct gt_loaded_run *run, struct gt_departure *departure)
{
    const struct gt_loaded_op *op = &run->ops[departure->op];
    gt_time_ps waited_ps = 0;

    for (int wait = 0; wait < GT_WAITS; wait++)
        waited_ps += op->wait_ps[wait];
    gt_why(run, departure->op, waited_ps < op->start_ps ? op->start_ps - waited_ps : 0, op->start_ps,
           &departure->hold);
    gt_loaded_op_place(run, departure->op, departure->place, sizeof departure->place);
}

static int find(const struct runs *runs, struct gt_departure *departure)
{
    for (uint32_t i = 0; i < runs->measured->started; i++) {
        gt_op_index op = runs->measured->by_start[i];

        if (!in_both(runs, op) || !is_off(runs, op, departure))
            continue;
        find_hold(runs->simulated, departure);
        return 1;
    }
    return 0;
}

int gt_departure_find(struct gt_database *database, int64_t simulated_run, int64_t measured_run,
                      struct gt_departure *departure, struct gt_error *error)
{
    struct runs runs = { .simulated = gt_loaded_run_load(database, simulated_run, error) };
    int result = -1;

    if (runs.simulated != NULL)
        runs.measured = gt_loaded_run_load(database, measured_run, error);
    if (runs.measured != NULL) {
        align(&runs);
        result = find(&runs, departure);
    }
    gt_loaded_run_free(runs.simulated);
    gt_loaded_run_free(runs.measured);
    return result;
}
