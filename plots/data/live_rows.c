#include "plots/data/live_rows.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/explain/part.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

/* Rows of ranges that a thread has at most: deeper ones are left out, and counted. */
enum { DEPTH = 12 };

/* What a page holds of boxes, and what one of them takes in it, more or less. */
enum { PAGE_BYTES = 18000000, BOX_BYTES = 8, WAITING_BOX_BYTES = 17, RECORDED_BOX_BYTES = 10 };

static const uint32_t call_rgb = 0xc3ccd4;

static struct gt_live_row *add_row(struct gt_live_rows *rows, enum gt_live_row_kind kind, size_t side, char *title)
{
    gt_array_grow(rows->rows, rows->count, rows->room);
    rows->rows[rows->count] = (struct gt_live_row){ .kind = kind, .side = side, .title = title };
    return &rows->rows[rows->count++];
}

static uint32_t range_rgb(const char *kind)
{
    /* clang-format off */
    static const struct { const char *kind; uint32_t rgb; } known[] = {
        { "step", 0xe3d3f0 }, { "operator", 0xbcd7ee }, { "module", 0xf1e0bd },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(kind, known[i].kind) == 0)
            return known[i].rgb;
    return 0xcbe6cb;
}

/* Put a range into the first of its thread's rows, from number `first` on, that is free when it starts. */
static void add_range(struct gt_live_rows *rows, size_t side, uint32_t first, const char *thread,
                      const struct gt_live_range *range)
{
    struct gt_live_row *row = NULL;

    for (uint32_t i = first; i < rows->count && row == NULL; i++)
        if (rows->rows[i].busy_until_ps <= range->start_ps)
            row = &rows->rows[i];
    if (row == NULL && rows->count - first == DEPTH) {
        rows->ranges_left_out++;
        return;
    }
    if (row == NULL)
        row = add_row(rows, GT_LIVE_ROW_RANGES, side, rows->count == first ? gt_strdup(thread) : gt_strdup(""));
    gt_array_grow(row->ranges, row->count, row->room);
    row->ranges[row->count++] = *range;
    row->busy_until_ps = range->end_ps;
}

static void add_calls(struct gt_live_rows *rows, size_t side, uint32_t thread)
{
    const struct gt_loaded_run *run = rows->view->sides[side].run;
    const struct gt_selection *selection = &rows->view->sides[side].run->part;
    uint32_t first = run->thread_first[thread], count = run->thread_first[thread + 1] - first;
    uint32_t *items = gt_calloc(count + 1ull, sizeof *items), kept = 0;
    struct gt_live_row *row;

    for (uint32_t i = first; i < first + count; i++)
        if (gt_selection_has_call(selection, run->thread_calls[i], run->calls[run->thread_calls[i]].start_ps))
            items[kept++] = run->thread_calls[i];
    if (kept == 0) {
        free(items);
        return;
    }
    row = add_row(rows, GT_LIVE_ROW_CALLS, side, gt_format("calls of %s", run->threads[thread]));
    row->items = items;
    row->count = kept;
}

/* The ranges of one thread: the rows of the query as long as they are its own.  Returns what gt_query_next() does. */
static int add_ranges(struct gt_live_rows *rows, size_t side, uint32_t thread, struct gt_query *query,
                      struct gt_error *error)
{
    const struct gt_selection *selection = &rows->view->sides[side].run->part;
    int64_t origin_ps = rows->view->sides[side].origin_ps;
    uint32_t first = rows->count;
    int result = 1;

    while (result == 1 && gt_query_integer(query, 0) == thread) {
        const char *kind = gt_query_string(query, 1), *name = gt_query_string(query, 2);
        struct gt_live_range range = { .name = gt_live_name(&rows->names, GT_LIVE_RANGE, name != NULL ? name : "",
                                                            range_rgb(kind != NULL ? kind : "")) };
        gt_time_ps start_ps, end_ps;

        if (gt_query_span(query, 3, "range", 0, &start_ps, &end_ps, error) != 0)
            return -1;
        range.start_ps = (int64_t)start_ps - origin_ps;
        range.end_ps = (int64_t)end_ps - origin_ps;
        if (selection->all || (end_ps > selection->from_ps && start_ps < selection->to_ps))
            add_range(rows, side, first, rows->view->sides[side].run->threads[thread], &range);
        result = gt_query_next(query, error);
    }
    return result;
}

static int add_threads(struct gt_live_rows *rows, size_t side, struct gt_error *error)
{
    static const char sql[] = "SELECT g.thread_no, g.kind, g.name, t.start_ps, t.end_ps FROM run_range t"
                              " JOIN range g ON g.trace_id = ?2 AND g.range_no = t.range_no WHERE t.run_id = ?1"
                              " ORDER BY g.thread_no, t.start_ps, t.end_ps DESC, t.range_no";
    const struct gt_loaded_run *run = rows->view->sides[side].run;
    struct gt_query *query = NULL;
    int result = 0;

    if (gt_store_has_ranges(rows->view->store)) {
        query = gt_query_new(rows->view->database, sql, error);
        if (query == NULL)
            return -1;
        gt_query_bind(query, 1, run->run_id);
        gt_query_bind(query, 2, run->trace_id);
        result = gt_query_next(query, error);
    }
    for (uint32_t thread = 0; thread < run->thread_count && result >= 0; thread++) {
        if (result == 1)
            result = add_ranges(rows, side, thread, query, error);
        add_calls(rows, side, thread);
    }
    gt_query_end(query);
    return result < 0 ? -1 : 0;
}

static int by_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_op *ops = user;
    gt_op_index left = *(const gt_op_index *)a, right = *(const gt_op_index *)b;

    if (ops[left].start_ps != ops[right].start_ps)
        return ops[left].start_ps < ops[right].start_ps ? -1 : 1;
    return (left > right) - (left < right);
}

static void add_stream(struct gt_live_rows *rows, size_t side, uint32_t stream, uint32_t *items, uint32_t count)
{
    const struct gt_side *of = &rows->view->sides[side];
    size_t place = gt_view_stream_place(of, stream);
    struct gt_live_row *row;

    if (count == 0 || place == of->stats->stream_count)
        return;
    row = add_row(rows, GT_LIVE_ROW_STREAM, side, gt_view_stream_name(of, place));
    row->gpu = of->run->streams[stream].gpu;
    row->items = gt_calloc(count, sizeof *row->items);
    memcpy(row->items, items, count * sizeof *items);
    row->count = count;
    qsort_r(row->items, count, sizeof *row->items, by_start, of->run->ops);
}

static bool is_shown(const struct gt_side *side, gt_op_index op)
{
    return side->run->ops[op].there && gt_part_has_op(side->run, op);
}

/* A side's operations by stream: `first[i]` to `first[i + 1]` of what is returned are stream i's. */
static uint32_t *sort_by_stream(const struct gt_side *side, uint32_t **first)
{
    const struct gt_loaded_run *run = side->run;
    uint32_t *items = gt_calloc(run->op_count + 1ull, sizeof *items);
    uint32_t *next = gt_calloc(run->stream_count + 2ull, sizeof *next);

    *first = gt_calloc(run->stream_count + 2ull, sizeof **first);
    for (uint32_t i = 0; i < run->op_count; i++)
        (*first)[run->ops[i].stream + 1] += is_shown(side, i);
    for (uint32_t i = 0; i < run->stream_count; i++)
        (*first)[i + 1] += (*first)[i];
    memcpy(next, *first, (run->stream_count + 1ull) * sizeof *next);
    for (uint32_t i = 0; i < run->op_count; i++)
        if (is_shown(side, i))
            items[next[run->ops[i].stream]++] = i;
    free(next);
    return items;
}

/* The rows of one stream in both runs stand together where its number means the same in both. */
static void add_streams(struct gt_live_rows *rows, size_t from_side, size_t to_side)
{
    uint32_t *items[GT_SIDES], *first[GT_SIDES], streams = 0;

    for (size_t side = from_side; side < to_side; side++) {
        const struct gt_loaded_run *run = rows->view->sides[side].run;

        items[side] = sort_by_stream(&rows->view->sides[side], &first[side]);
        streams = run->stream_count > streams ? run->stream_count : streams;
    }
    for (uint32_t stream = 0; stream < streams; stream++)
        for (size_t side = from_side; side < to_side; side++)
            if (stream < rows->view->sides[side].run->stream_count)
                add_stream(rows, side, stream, items[side] + first[side][stream],
                           first[side][stream + 1] - first[side][stream]);
    for (size_t side = from_side; side < to_side; side++) {
        free(items[side]);
        free(first[side]);
    }
}

static void name_side(struct gt_live_rows *rows, size_t side)
{
    const struct gt_side *of = &rows->view->sides[side];

    rows->op_names[side] = gt_calloc(of->run->kernel_count + 1ull, sizeof(uint32_t));
    for (uint32_t i = 0; i < of->run->kernel_count; i++)
        rows->op_names[side][i] = gt_live_name(&rows->names, GT_LIVE_KERNEL, of->run->kernels[i].name,
                                               gt_class_rows[of->kernel_classes[i]].rgb);
    rows->call_names[side] = gt_calloc(of->run->name_count + 1ull, sizeof(uint32_t));
    for (uint32_t i = 0; i < of->run->name_count; i++)
        rows->call_names[side][i] = gt_live_name(&rows->names, GT_LIVE_CALL, of->run->names[i], call_rgb);
}

uint32_t gt_live_op_name(struct gt_live_rows *rows, size_t side, gt_op_index op)
{
    const struct gt_side *of = &rows->view->sides[side];
    const struct gt_loaded_op *row = &of->run->ops[op];
    enum gt_class class = gt_view_op_class(of, op);
    char text[80];

    if (row->kind == GT_OP_KERNEL)
        return rows->op_names[side][row->kernel];
    gt_loaded_op_name(of->run, op, text, sizeof text);
    return gt_live_name(&rows->names,
                        class == GT_CLASS_H2D   ? GT_LIVE_COPY_IN
                        : class == GT_CLASS_D2H ? GT_LIVE_COPY_OUT
                                                : GT_LIVE_OTHER_OP,
                        text, gt_class_rows[class].rgb);
}

static uint64_t row_bytes(const struct gt_live_rows *rows, const struct gt_live_row *row)
{
    bool recorded = &rows->view->sides[row->side] == rows->view->measured;

    return (uint64_t)row->count * (row->kind != GT_LIVE_ROW_STREAM ? BOX_BYTES
                                   : recorded                      ? RECORDED_BOX_BYTES
                                                                   : WAITING_BOX_BYTES);
}

/* The row that can be missed most easily: see live_rows.h. */
static uint32_t find_least_needed(const struct gt_live_rows *rows)
{
    uint32_t found = 0;
    uint64_t rank = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        const struct gt_live_row *row = &rows->rows[i];
        uint64_t class = row->kind == GT_LIVE_ROW_RANGES                         ? 3
                         : row->kind == GT_LIVE_ROW_CALLS                        ? 2
                         : &rows->view->sides[row->side] == rows->view->measured ? 1
                                                                                 : 0;

        if ((class << 32 | row->count) > rank) {
            rank = class << 32 | row->count;
            found = i;
        }
    }
    return found;
}

static void free_row(struct gt_live_row *row)
{
    free(row->title);
    free(row->items);
    free(row->ranges);
}

static void leave_out(struct gt_live_rows *rows)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < rows->count; i++)
        bytes += row_bytes(rows, &rows->rows[i]);
    while (bytes > PAGE_BYTES) {
        uint32_t least = find_least_needed(rows);

        bytes -= row_bytes(rows, &rows->rows[least]);
        free_row(&rows->rows[least]);
        memmove(&rows->rows[least], &rows->rows[least + 1], (--rows->count - least) * sizeof *rows->rows);
        rows->rows_left_out++;
    }
}

/* Number all boxes, and find those of calls and operations. */
static void number_boxes(struct gt_live_rows *rows)
{
    for (size_t side = 0; side < rows->view->side_count; side++) {
        const struct gt_loaded_run *run = rows->view->sides[side].run;

        rows->op_boxes[side] = gt_realloc(NULL, run->op_count + 1ull, sizeof(uint32_t));
        rows->call_boxes[side] = gt_realloc(NULL, run->call_count + 1ull, sizeof(uint32_t));
        memset(rows->op_boxes[side], 0xff, (run->op_count + 1ull) * sizeof(uint32_t)); /* GT_NONE */
        memset(rows->call_boxes[side], 0xff, (run->call_count + 1ull) * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        struct gt_live_row *row = &rows->rows[i];
        uint32_t *boxes = row->kind == GT_LIVE_ROW_STREAM ? rows->op_boxes[row->side] : rows->call_boxes[row->side];

        row->first = rows->boxes;
        rows->boxes += row->count;
        for (uint32_t item = 0; row->items != NULL && item < row->count; item++)
            boxes[row->items[item]] = row->first + item;
    }
}

int gt_live_rows_load(struct gt_live_rows *rows, const struct gt_view *view, struct gt_error *error)
{
    *rows = (struct gt_live_rows){ .view = view };
    for (size_t side = 0; side < view->side_count; side++)
        name_side(rows, side);
    for (size_t side = 0; side < view->side_count; side++)
        if (&view->sides[side] != view->measured && add_threads(rows, side, error) != 0)
            return -1;
    for (size_t side = 0; view->other_streams && side < view->side_count; side++)
        add_streams(rows, side, side + 1);
    if (!view->other_streams)
        add_streams(rows, 0, view->side_count);
    leave_out(rows);
    number_boxes(rows);
    return 0;
}

void gt_live_rows_free(struct gt_live_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        free_row(&rows->rows[i]);
    for (size_t side = 0; side < GT_SIDES; side++) {
        free(rows->op_names[side]);
        free(rows->call_names[side]);
        free(rows->op_boxes[side]);
        free(rows->call_boxes[side]);
    }
    free(rows->rows);
    gt_live_names_free(&rows->names);
}

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

struct gt_live_index {
    char *key; /* the kind's letter, then the name */
    uint32_t place;
    UT_hash_handle hh;
};

uint32_t gt_live_name(struct gt_live_names *names, enum gt_live_kind kind, const char *text, uint32_t rgb)
{
    char *key = gt_format("%c%s", (char)kind, text);
    struct gt_live_index *found;

    HASH_FIND_STR(names->index, key, found);
    if (found != NULL) {
        free(key);
        return found->place;
    }
    gt_array_grow(names->rows, names->count, names->room);
    names->rows[names->count] = (struct gt_live_name){ gt_strdup(text), kind, rgb };
    found = gt_calloc(1, sizeof *found);
    found->key = key;
    found->place = names->count++;
    HASH_ADD_KEYPTR(hh, names->index, found->key, strlen(found->key), found);
    return found->place;
}

void gt_live_names_free(struct gt_live_names *names)
{
    struct gt_live_index *found, *next;

    HASH_ITER(hh, names->index, found, next)
    {
        HASH_DEL(names->index, found);
        free(found->key);
        free(found);
    }
    for (uint32_t i = 0; i < names->count; i++)
        free(names->rows[i].text);
    free(names->rows);
    *names = (struct gt_live_names){ .rows = NULL };
}
