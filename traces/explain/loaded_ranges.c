/* A run's ranges into arrays; and how rows are read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/ranges.h"
#include "sim/workload/tensor.h"
#include "traces/explain/loaded_ranges.h"

/* All tables are read alike: rows numbered 0, 1, 2... of the trace (?1), or of the run by number. */
int gt_loading_rows(struct gt_loading_run *loading, const char *sql, int64_t id,
                    int (*row)(struct gt_loading_run *loading, struct gt_query *query))
{
    struct gt_query *query = gt_query_new(loading->database, sql, loading->error);
    int result = query == NULL ? -1 : 0;

    if (query != NULL)
        gt_query_bind(query, 1, id);
    while (result == 0 && (result = gt_query_next(query, loading->error)) == 1)
        result = row(loading, query);
    gt_query_end(query);
    return result;
}

uint32_t gt_loading_index(struct gt_query *query, int column, uint32_t count)
{
    int64_t value = gt_query_integer(query, column);

    return gt_query_absent(query, column) || value < 0 || value >= count ? GT_NONE : (uint32_t)value;
}

uint8_t gt_loading_word(struct gt_query *query, int column, const char *const *names, int count)
{
    const char *text = gt_query_string(query, column);

    for (int i = 0; text != NULL && i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return (uint8_t)i;
    return (uint8_t)count;
}

int gt_loading_numbered(struct gt_loading_run *loading, struct gt_query *query, uint32_t next, const char *what)
{
    if (gt_query_integer(query, 0) == (int64_t)next && next < GT_NONE - 1)
        return 0;
    return gt_error_set(loading->error, "%s %" PRIu32 " is missing; the store is damaged", what, next);
}

static int read_range(struct gt_loading_run *loading, struct gt_query *query)
{
    struct gt_loaded_run *t = loading->t;
    struct gt_loaded_range *range;
    uint8_t kind = gt_loading_word(query, 1, gt_range_kind_names, GT_RANGE_KINDS);
    uint32_t parent = gt_loading_index(query, 6, t->range_count);
    uint64_t first, behind;

    if (gt_loading_numbered(loading, query, t->range_count, "range") != 0 ||
        gt_query_number(query, 4, t->call_count, "first_call", &first, loading->error) != 0 ||
        gt_query_number(query, 5, t->call_count, "behind_call", &behind, loading->error) != 0)
        return -1;
    gt_array_grow(t->ranges, t->range_count, loading->range_room);
    range = &t->ranges[t->range_count++];
    *range = (struct gt_loaded_range){
        .name = gt_query_text(query, 2),
        .kind = kind,
        .step = kind == GT_RANGE_STEP,
        .nested = gt_query_integer(query, 7) != 0,
        .start_ps = GT_TIME_NONE,
        .parent = parent,
        .thread = gt_loading_index(query, 3, t->thread_count),
        .first_call = (uint32_t)first,
        .end_call = (uint32_t)behind,
    };
    range->loader = gt_is_data_loader(range->name) || (parent != GT_NONE && t->ranges[parent].loader);
    return 0;
}

static int read_run_range(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t number = gt_loading_index(query, 0, loading->t->range_count);
    struct gt_loaded_range *range;

    if (number == GT_NONE)
        return gt_error_set(loading->error, "the run has a range that is missing in the trace; the store is damaged");
    range = &loading->t->ranges[number];
    return gt_query_span(query, 1, "range", number, &range->start_ps, &range->end_ps, loading->error);
}

static int read_call_range(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t call = gt_loading_index(query, 0, loading->t->call_count);

    if (call != GT_NONE)
        loading->t->calls[call].range = gt_loading_index(query, 1, loading->t->range_count);
    return 0;
}

static int read_inputs(struct gt_loading_run *loading, struct gt_query *query)
{
    uint32_t range = gt_loading_index(query, 0, loading->t->range_count);
    struct gt_tensor ignored[GT_MOST_INPUTS];
    char *inputs = gt_query_text(query, 1);

    if (range == GT_NONE || inputs == NULL || gt_tensors_read(inputs, ignored) < 0) {
        free(inputs);
        return gt_error_set(loading->error,
                            "range_inputs has a row that is of no range or of no tensors; the store is damaged");
    }
    free(loading->t->ranges[range].inputs);
    loading->t->ranges[range].inputs = inputs;
    return 0;
}

/* Stores of older versions have no inputs. */
static int load_inputs(struct gt_loading_run *loading)
{
    int64_t tables = 0;

    if (gt_query_one(loading->database, "SELECT count(*) FROM sqlite_master WHERE name = 'range_inputs'", 0, 0,
                     &tables, loading->error) < 0)
        return -1;
    return tables == 0 ? 0
                       : gt_loading_rows(loading, "SELECT range_no, inputs FROM range_inputs WHERE trace_id = ?1",
                                         loading->t->trace_id, read_inputs);
}

/* Stores of older versions have no ranges. */
int gt_loading_ranges(struct gt_loading_run *loading)
{
    int64_t id = loading->t->trace_id, tables = 0;

    if (gt_query_one(loading->database, "SELECT count(*) FROM sqlite_master WHERE name = 'range'", 0, 0, &tables,
                     loading->error) < 0)
        return -1;
    if (tables == 0)
        return 0;
    if (gt_loading_rows(
            loading,
            "SELECT range_no, kind, name, thread_no, first_call, behind_call, parent_no, nested FROM range"
            " WHERE trace_id = ?1 ORDER BY range_no",
            id, read_range) != 0 ||
        load_inputs(loading) != 0 ||
        gt_loading_rows(loading, "SELECT call_no, range_no FROM call_range WHERE trace_id = ?1", id,
                        read_call_range) != 0)
        return -1;
    return gt_loading_rows(loading, "SELECT range_no, start_ps, end_ps FROM run_range WHERE run_id = ?1",
                           loading->t->run_id, read_run_range);
}
