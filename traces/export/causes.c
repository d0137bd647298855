/* causes.c - what let operations start and blocked calls return, as arrows. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/export/internal.h"

/* Arrows by the operation that they begin at. */
struct gt_export_causes {
    uint32_t *from;  /* op_no, rising */
    uint64_t *flows; /* each arrow's number */
    size_t count, room, flow_room;
};

uint64_t gt_export_cause_of_op(const struct gt_export_run *run, uint64_t op)
{
    return run->number << 52 | UINT64_C(1) << 40 | (op + 1);
}

uint64_t gt_export_cause_of_call(const struct gt_export_run *run, uint64_t call)
{
    return run->number << 52 | UINT64_C(2) << 40 | (call + 1);
}

/* Operations that another let start, and calls that one let return; of an operation that its own call let start the
 * arrow from that call tells. */
static const char causes_sql[] =
    "SELECT cause_op, op_no, NULL, 0 FROM run_op WHERE run_id = ?1 AND cause_op IS NOT NULL"
    " UNION ALL SELECT cause_op, call_no, 1, start_ps FROM run_call WHERE run_id = ?1 AND cause_op IS NOT NULL"
    " ORDER BY 1, 3, 2";

static int add_arrow(struct gt_export *export, struct gt_query *query, struct gt_error *error)
{
    struct gt_export_causes *causes = export->causes;
    bool call = !gt_query_absent(query, 2);
    uint64_t from, to, start_ps;

    if (gt_export_number(query, 0, "cause_op", &from, error) != 0 ||
        gt_export_number(query, 1, call ? "call_no" : "op_no", &to, error) != 0 ||
        gt_query_number(query, 3, GT_TIME_LIMIT_PS, "start_ps", &start_ps, error) != 0)
        return -1;
    if (!gt_selection_has_op(&export->selection, (int64_t)from) ||
        !(call ? gt_selection_has_call(&export->selection, (int64_t)to, start_ps)
               : gt_selection_has_op(&export->selection, (int64_t)to)))
        return 0;
    gt_array_grow(causes->from, causes->count, causes->room);
    gt_array_grow(causes->flows, causes->count, causes->flow_room);
    causes->from[causes->count] = (uint32_t)from;
    causes->flows[causes->count++] =
        call ? gt_export_cause_of_call(&export->run, to) : gt_export_cause_of_op(&export->run, to);
    return 0;
}

int gt_export_causes_load(struct gt_export *export, struct gt_error *error)
{
    struct gt_query *query =
        gt_export_query(export->database, causes_sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;

    export->causes = gt_calloc(1, sizeof *export->causes);
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (add_arrow(export, query, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

void gt_export_causes_free(struct gt_export *export)
{
    if (export->causes == NULL)
        return;
    free(export->causes->from);
    free(export->causes->flows);
    free(export->causes);
    export->causes = NULL;
}

size_t gt_export_causes_from(const struct gt_export *export, uint64_t op, uint64_t **flows)
{
    const struct gt_export_causes *causes = export->causes;
    size_t low = 0, high = causes->count, count = 0;

    low = GT_LOWER_BOUND(middle, low, high, causes->from[middle] < op);
    while (low + count < causes->count && causes->from[low + count] == op)
        count++;
    *flows = causes->flows + low;
    return count;
}
