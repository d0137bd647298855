/* Kernels' first starts, held against each other pair by pair. */
#include "traces/compare/kernel_order.h"

#include <math.h>
#include <stdlib.h>

#include "traces/compare/kernel_kin.h"
#include "traces/store/query.h"

static const int64_t least_ps = 2000000;

/* Starts of the kernels that all runs have, in order of launch: runs[i] of kernel k at [k * runs + i], the
 * simulated one's last. */
struct starts {
    int64_t *start_ps, *ops; /* their operations */
    uint64_t kernels, room;
    uint32_t runs;
};

/* One run's starts: of the first run they make the list, of a later one they narrow it. */
static int read_run(struct gt_query *query, int64_t run, uint32_t place, struct starts *starts,
                    struct gt_error *error)
{
    uint64_t kept = 0, at = 0;
    int row;

    gt_query_bind(query, 1, run);
    while ((row = gt_query_next(query, error)) == 1) {
        int64_t op = gt_query_integer(query, 0);

        if (place == 0 && at == starts->room) {
            starts->room = starts->room * 2 + 64;
            starts->start_ps = gt_realloc(starts->start_ps, starts->room * starts->runs, sizeof *starts->start_ps);
            starts->ops = gt_realloc(starts->ops, starts->room, sizeof *starts->ops);
        }
        if (place == 0)
            starts->ops[starts->kernels++] = op;
        while (at < starts->kernels && starts->ops[at] < op)
            at++;
        if (at == starts->kernels || starts->ops[at] != op)
            continue;
        for (uint32_t i = 0; i < place; i++)
            starts->start_ps[kept * starts->runs + i] = starts->start_ps[at * starts->runs + i];
        starts->start_ps[kept * starts->runs + place] = gt_query_integer(query, 1);
        starts->ops[kept++] = op;
        at++;
    }
    starts->kernels = kept;
    gt_query_rewind(query);
    return row;
}

static int read_starts(struct gt_store *store, int64_t simulated_run, const int64_t *runs, struct starts *starts,
                       struct gt_error *error)
{
    static const char sql[] = "SELECT p.op_no, p.start_ps FROM run r JOIN run_op p ON p.run_id = r.run_id"
                              " JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind = 'kernel'"
                              " WHERE r.run_id = ? ORDER BY p.op_no";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int result = query == NULL ? -1 : 0;

    for (uint32_t i = 0; i < starts->runs && result == 0; i++)
        result = read_run(query, i + 1 < starts->runs ? runs[i] : simulated_run, i, starts, error);
    gt_query_end(query);
    return result;
}

/* How far apart two starts must be to be in any order at all. */
static int read_resolution(struct gt_store *store, const int64_t *runs, uint32_t count, int64_t *resolution_ps,
                           struct gt_error *error)
{
    static const char sql[] = "SELECT value FROM counter WHERE run_id = ? AND name = 'clock_residual_ps'";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int row = 0;

    *resolution_ps = least_ps;
    if (query == NULL)
        return -1;
    for (uint32_t i = 0; i < count && row >= 0; i++) {
        gt_query_bind(query, 1, runs[i]);
        row = gt_query_next(query, error);
        if (row == 1 && gt_query_integer(query, 0) > *resolution_ps)
            *resolution_ps = gt_query_integer(query, 0);
        gt_query_rewind(query);
    }
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

/* 1 where the left one starts first in every measured run, -1 where the right one does, 0 where neither. */
static int certain(const int64_t *left, const int64_t *right, uint32_t runs, int64_t resolution_ps)
{
    int sign = left[0] < right[0] ? 1 : -1;

    for (uint32_t i = 0; i < runs; i++)
        if (sign * (right[i] - left[i]) <= resolution_ps)
            return 0;
    return sign;
}

/* What is certain of a pair is so of all that are like it: `note` it first, of all pairs, then ask. */
static int certain_of_all(struct gt_kin *kin, int64_t left_op, int64_t right_op, int sign, bool note)
{
    bool swapped = false;
    signed char *known;

    if (kin == NULL)
        return sign;
    known = gt_kin_of_pair(kin, left_op, right_op, &swapped);
    if (known == NULL)
        return 0;
    if (note)
        *known =
            (signed char)(*known == GT_KIN_NEW || *known == (swapped ? -sign : sign) ? swapped ? -sign : sign : 0);
    return swapped ? -*known : *known;
}

static void count_pairs(const struct starts *starts, int64_t resolution_ps, struct gt_kin *kin, bool note,
                        struct gt_order *order)
{
    uint32_t measured = starts->runs - 1;

    *order = (struct gt_order){ 0, 0 };
    for (uint64_t i = 0; i < starts->kernels; i++) {
        const int64_t *left = starts->start_ps + i * starts->runs;

        for (uint64_t j = i + 1; j < starts->kernels && j <= i + GT_ORDER_REACH; j++) {
            const int64_t *right = starts->start_ps + j * starts->runs;
            int sign = certain(left, right, measured, resolution_ps);

            sign = certain_of_all(kin, starts->ops[i], starts->ops[j], sign, note);
            order->pairs += sign != 0;
            order->wrong += sign != 0 && sign * (right[measured] - left[measured]) <= 0;
        }
    }
}

int gt_order_of(struct gt_store *store, int64_t simulated_run, const int64_t *runs, uint32_t count,
                struct gt_order *order, struct gt_error *error)
{
    struct starts starts = { .runs = count + 1 };
    struct gt_kin *kin = NULL;
    int64_t resolution_ps;
    int result;

    *order = (struct gt_order){ NAN, NAN };
    if (count < 2)
        return 0;
    result = read_resolution(store, runs, count, &resolution_ps, error);
    if (result == 0)
        result = read_starts(store, simulated_run, runs, &starts, error);
    if (result == 0)
        result = gt_kin_read(store, simulated_run, &kin, error);
    if (result == 0 && kin != NULL)
        count_pairs(&starts, resolution_ps, kin, true, order);
    if (result == 0)
        count_pairs(&starts, resolution_ps, kin, false, order);
    gt_kin_free(kin);
    free(starts.start_ps);
    free(starts.ops);
    return result;
}
