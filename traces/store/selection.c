#include "traces/store/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/names/demangle.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

enum { LISTED = 400 }; /* bytes of names in a message */

struct finding {
    struct gt_selection *selection;
    struct gt_database *database;
    const struct gt_filter *filter;
    int64_t run_id, trace_id;
    bool *streams, *kernels; /* by number: wanted; NULL: all */
    uint64_t stream_count, kernel_count;
    uint64_t first_op, behind_op; /* of the step */
    gt_time_ps step_start_ps, step_end_ps;
    char listed[LISTED]; /* what there is, for a message */
    size_t listed_bytes;
};

bool gt_filter_is_all(const struct gt_filter *filter)
{
    return filter == NULL || (filter->from_ps == 0 && filter->to_ps == GT_TIME_NONE && filter->stream == NULL &&
                              filter->kernel == NULL && filter->step == NULL);
}

static void list(struct finding *finding, const char *name)
{
    size_t bytes = strlen(name) + 2;

    if (finding->listed_bytes + bytes + 5 > LISTED)
        return;
    finding->listed_bytes += (size_t)snprintf(finding->listed + finding->listed_bytes, LISTED - finding->listed_bytes,
                                              "%s%s", finding->listed_bytes > 0 ? ", " : "", name);
}

static int fail_none(struct finding *finding, const char *what, const char *asked, struct gt_error *error)
{
    if (finding->listed_bytes == 0)
        return gt_error_set(error, "%s: the run has no %ss, so there is no %s '%.100s'", finding->database->path,
                            what, what, asked);
    return gt_error_set(error, "%s: the run has no %s '%.100s'; it has %s", finding->database->path, what, asked,
                        finding->listed);
}

static struct gt_query *query_trace(struct finding *finding, const char *sql, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(finding->database, sql, error);

    if (query != NULL) {
        gt_query_bind(query, 1, finding->run_id);
        gt_query_bind(query, 2, finding->trace_id);
    }
    return query;
}

/* Mark number `number`, which is `wanted`, in a list that grows with it. */
static int mark(bool **list, uint64_t *count, int64_t number, bool wanted, struct gt_error *error)
{
    if (number != (int64_t)*count)
        return gt_error_set(error, "rows of the trace are missing; the store is damaged");
    if ((*count & (*count - 1)) == 0)
        *list = gt_realloc(*list, *count == 0 ? 1 : 2 * *count, sizeof **list);
    (*list)[(*count)++] = wanted;
    return 0;
}

static int find_streams(struct finding *finding, struct gt_error *error)
{
    struct gt_query *query = query_trace(
        finding, "SELECT stream_no, CAST(id AS TEXT), name FROM stream WHERE trace_id = ?2 AND ?1 ORDER BY stream_no",
        error);
    bool found = false;
    int row = query == NULL ? -1 : 1;

    while (row == 1 && (row = gt_query_next(query, error)) == 1) {
        const char *id = gt_query_string(query, 1), *name = gt_query_string(query, 2);
        bool wanted = (id != NULL && strcmp(id, finding->filter->stream) == 0) ||
                      (name != NULL && strcmp(name, finding->filter->stream) == 0);

        list(finding, name != NULL ? name : id != NULL ? id : "");
        found |= wanted;
        if (mark(&finding->streams, &finding->stream_count, gt_query_integer(query, 0), wanted, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    return row != 0 ? -1 : found ? 0 : fail_none(finding, "stream", finding->filter->stream, error);
}

/* How well the names of the trace's kernels fit what is asked for; of 0 bytes: the best fit alone counts. */
static int find_kernels(struct finding *finding, struct gt_error *error)
{
    int *fits = NULL, best = 0;
    struct gt_query *query = query_trace(
        finding, "SELECT kernel_no, name FROM kernel WHERE trace_id = ?2 AND ?1 ORDER BY kernel_no", error);
    int row = query == NULL ? -1 : 1;
    uint64_t room = 0;

    while (row == 1 && (row = gt_query_next(query, error)) == 1) {
        const char *name = gt_query_string(query, 1);
        int fit = name == NULL ? 0 : gt_name_fit(name, finding->filter->kernel);

        if (name != NULL)
            list(finding, name);
        if (finding->kernel_count == room) {
            room = room == 0 ? 64 : 2 * room;
            fits = gt_realloc(fits, room, sizeof *fits);
        }
        fits[finding->kernel_count] = fit;
        best = fit > best ? fit : best;
        if (mark(&finding->kernels, &finding->kernel_count, gt_query_integer(query, 0), false, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    for (uint64_t i = 0; i < finding->kernel_count; i++)
        finding->kernels[i] = best > 0 && fits[i] == best;
    free(fits);
    return row != 0 ? -1 : best > 0 ? 0 : fail_none(finding, "kernel", finding->filter->kernel, error);
}

/* The number behind a '#' at a name's end. */
static const char *number_of(const char *name)
{
    const char *mark = strrchr(name, '#');

    return mark != NULL ? mark + 1 : "";
}

enum { STEP_NAME, STEP_START, STEP_END, STEP_FIRST_CALL, STEP_BEHIND_CALL, STEP_FIRST_OP, STEP_BEHIND_OP };

/* Take the row where it fits the request better than the one taken before. */
static int take_step(struct finding *finding, struct gt_query *query, uint64_t place, int *best,
                     struct gt_error *error)
{
    struct gt_selection *selection = finding->selection;
    const char *name = gt_query_string(query, STEP_NAME), *asked = finding->filter->step;
    char text[24];
    int fit;

    if (name == NULL)
        return 0;
    list(finding, name);
    snprintf(text, sizeof text, "%" PRIu64, place);
    fit = strcmp(name, asked) == 0 ? 3 : strcmp(number_of(name), asked) == 0 ? 2 : strcmp(text, asked) == 0;
    if (fit <= *best)
        return 0;
    *best = fit;
    if (gt_query_span(query, STEP_START, "step", (int64_t)place, &finding->step_start_ps, &finding->step_end_ps,
                      error) != 0 ||
        gt_query_number(query, STEP_FIRST_CALL, UINT32_MAX, "first_call", &selection->first_call, error) != 0 ||
        gt_query_number(query, STEP_BEHIND_CALL, UINT32_MAX, "behind_call", &selection->end_call, error) != 0 ||
        gt_query_number(query, STEP_FIRST_OP, UINT32_MAX, "first_op", &finding->first_op, error) != 0 ||
        gt_query_number(query, STEP_BEHIND_OP, UINT32_MAX, "behind_op", &finding->behind_op, error) != 0)
        return -1;
    return 0;
}

static int find_step(struct finding *finding, struct gt_error *error)
{
    struct gt_query *query;
    int64_t version = 0;
    uint64_t place = 0;
    int best = 0, row;

    if (gt_query_one(finding->database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_RANGES)
        return fail_none(finding, "step", finding->filter->step, error);
    query = query_trace(finding,
                        "SELECT g.name, t.start_ps, t.end_ps, g.first_call, g.behind_call, g.first_op, g.behind_op"
                        " FROM range g JOIN run_range t ON t.run_id = ?1 AND t.range_no = g.range_no"
                        " WHERE g.trace_id = ?2 AND g.kind = 'step' ORDER BY g.first_call, g.range_no",
                        error);
    row = query == NULL ? -1 : 1;
    while (row == 1 && (row = gt_query_next(query, error)) == 1)
        if (take_step(finding, query, place++, &best, error) != 0)
            row = -1;
    gt_query_end(query);
    return row != 0 ? -1 : best > 0 ? 0 : fail_none(finding, "step", finding->filter->step, error);
}

static bool is_wanted(const bool *list, uint64_t count, struct gt_query *query, int column)
{
    int64_t number = gt_query_absent(query, column) ? -1 : gt_query_integer(query, column);

    return list == NULL || (number >= 0 && (uint64_t)number < count && list[number]);
}

enum { OP_NO, OP_START, OP_END, OP_STREAM, OP_KERNEL };

static int select_op(struct finding *finding, struct gt_query *query, struct gt_error *error)
{
    struct gt_selection *selection = finding->selection;
    const struct gt_filter *filter = finding->filter;
    gt_time_ps start_ps, end_ps;
    uint64_t op;
    bool wanted;

    if (gt_query_number(query, OP_NO, GT_NONE - 1, "op_no", &op, error) != 0 ||
        gt_query_span(query, OP_START, "operation", (int64_t)op, &start_ps, &end_ps, error) != 0)
        return -1;
    wanted = start_ps >= filter->from_ps && start_ps < filter->to_ps && op >= finding->first_op &&
             op < finding->behind_op && is_wanted(finding->streams, finding->stream_count, query, OP_STREAM) &&
             is_wanted(finding->kernels, finding->kernel_count, query, OP_KERNEL);
    if (op >= selection->op_count) {
        uint64_t count = 2 * op + 64;

        selection->ops = gt_realloc(selection->ops, count, 1);
        memset(selection->ops + selection->op_count, 0, count - selection->op_count);
        selection->op_count = count;
    }
    selection->ops[op] = wanted;
    if (wanted && filter->step != NULL && end_ps > finding->step_end_ps)
        finding->step_end_ps = end_ps;
    return 0;
}

static int select_ops(struct finding *finding, struct gt_error *error)
{
    struct gt_query *query =
        query_trace(finding,
                    "SELECT p.op_no, p.start_ps, p.end_ps, o.stream_no, o.kernel_no FROM run_op p"
                    " JOIN op o ON o.trace_id = ?2 AND o.op_no = p.op_no WHERE p.run_id = ?1",
                    error);
    int row = query == NULL ? -1 : 1;

    while (row == 1 && (row = gt_query_next(query, error)) == 1)
        if (select_op(finding, query, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

static int find_parts(struct finding *finding, struct gt_error *error)
{
    const struct gt_filter *filter = finding->filter;
    struct gt_selection *selection = finding->selection;

    if (gt_query_one(finding->database, "SELECT trace_id FROM run WHERE run_id = ?1", finding->run_id, 0,
                     &finding->trace_id, error) < 0 ||
        (filter->stream != NULL && find_streams(finding, error) != 0))
        return -1;
    finding->listed_bytes = 0;
    if (filter->kernel != NULL && find_kernels(finding, error) != 0)
        return -1;
    finding->listed_bytes = 0;
    if ((filter->step != NULL && find_step(finding, error) != 0) || select_ops(finding, error) != 0)
        return -1;
    if (filter->step != NULL && finding->step_start_ps > selection->from_ps)
        selection->from_ps = finding->step_start_ps;
    if (filter->step != NULL && finding->step_end_ps < selection->to_ps)
        selection->to_ps = finding->step_end_ps;
    return 0;
}

int gt_selection_find(struct gt_selection *selection, struct gt_database *database, int64_t run_id,
                      const struct gt_filter *filter, struct gt_error *error)
{
    struct finding finding = {
        .selection = selection, .database = database, .filter = filter, .run_id = run_id, .behind_op = UINT64_MAX
    };
    int result;

    *selection = (struct gt_selection){ .all = true, .by_time = true, .to_ps = GT_TIME_NONE, .end_call = UINT64_MAX };
    if (gt_filter_is_all(filter))
        return 0;
    selection->all = false;
    selection->by_time = filter->stream == NULL && filter->kernel == NULL;
    selection->from_ps = filter->from_ps;
    selection->to_ps = filter->to_ps;
    result = find_parts(&finding, error);
    free(finding.streams);
    free(finding.kernels);
    return result;
}

void gt_selection_free(struct gt_selection *selection)
{
    free(selection->ops);
    *selection = (struct gt_selection){ .all = true };
}

bool gt_selection_has_op(const struct gt_selection *selection, int64_t op)
{
    return selection->all || (op >= 0 && (uint64_t)op < selection->op_count && selection->ops[op]);
}

bool gt_selection_has_call(const struct gt_selection *selection, int64_t call, gt_time_ps start_ps)
{
    return call >= 0 && (uint64_t)call >= selection->first_call && (uint64_t)call < selection->end_call &&
           start_ps >= selection->from_ps && start_ps < selection->to_ps;
}
