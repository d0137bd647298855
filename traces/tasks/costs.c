#include "traces/tasks/costs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/task_graph.h"
#include "traces/io/csv.h"
#include "traces/io/decimal.h"
#include "traces/tasks/document.h"
#include "traces/tasks/recorded_costs.h"

enum { SHOWN = 60, HEAD_BYTES = 4096 };
#define NO_SIZE UINT64_MAX

/* A row of the table: what a task of this kind and size takes. */
struct cost {
    char *kind;
    uint64_t size; /* NO_SIZE: of any */
    gt_time_ps time_ps;
    bool operations;   /* what the size counts; else bytes */
    uint32_t recorded; /* the kind of the recording that it is of, in place of a time */
    bool used;
};

struct gt_task_costs {
    struct cost *costs; /* by kind, then size */
    uint32_t count, room;
    struct gt_task_slices recorded;
    bool is_recorded;
};

static const struct unit {
    const char *column;
    int exponent; /* of 10, in picoseconds */
} units[] = { { "time_us", 6 }, { "time_ns", 3 }, { "time_ms", 9 }, { "time_s", 12 }, { "time_ps", 0 } };
enum { UNITS = sizeof units / sizeof *units };

static int add(struct gt_task_costs *costs, const char *kind, size_t length, const char *time, int exponent,
               struct gt_error *error)
{
    struct cost cost = { .size = NO_SIZE };

    if (gt_decimal_parse(time, strlen(time), exponent, GT_TIME_LIMIT_PS, &cost.time_ps, error) != 0)
        return gt_error_prefix(error, "the time '%.40s' ", time);
    if (gt_decimal_read(time, strlen(time), exponent, &(uint64_t){ 0 }) != GT_DECIMAL_READ)
        return gt_error_set(error, "the time '%.40s' is not a number", time);
    cost.kind = strndup(kind, length);
    gt_array_grow(costs->costs, costs->count, costs->room);
    costs->costs[costs->count++] = cost;
    return 0;
}

/* Columns of a CSV table; UINT32_MAX: not there. */
struct columns {
    uint32_t kind, size, time;
    int exponent;
    bool operations;
};

static int find_columns(const struct gt_csv *csv, struct columns *columns, struct gt_error *error)
{
    for (uint32_t c = 0; c < csv->count; c++) {
        const char *name = gt_csv_field(csv, c);

        if (strcmp(name, "kind") == 0 || strcmp(name, "op") == 0)
            columns->kind = c;
        if (strcmp(name, "bytes") == 0 || strcmp(name, "operations") == 0) {
            if (columns->size != UINT32_MAX)
                return gt_error_set(error, "both bytes and operations; tasks are looked up by one of them");
            columns->size = c;
            columns->operations = name[0] == 'o';
        }
        for (unsigned u = 0; u < UNITS; u++) {
            if (strcmp(name, units[u].column) != 0)
                continue;
            columns->time = c;
            columns->exponent = units[u].exponent;
        }
    }
    if (columns->kind == UINT32_MAX || columns->time == UINT32_MAX)
        return gt_error_set(error, "the header needs the columns kind and time_us (or _ps, _ns, _ms, _s); bytes or "
                                   "operations where times depend on them");
    return 0;
}

static int read_row(struct gt_task_costs *costs, const struct gt_csv *csv, const struct columns *columns,
                    struct gt_error *error)
{
    const char *kind = gt_csv_field(csv, columns->kind);
    const char *size = columns->size == UINT32_MAX ? "" : gt_csv_field(csv, columns->size);
    struct cost *cost;

    if (add(costs, kind, strlen(kind), gt_csv_field(csv, columns->time), columns->exponent, error) != 0)
        return -1;
    cost = &costs->costs[costs->count - 1];
    cost->operations = columns->operations;
    if (size[0] != '\0' && !gt_csv_count(size, &cost->size))
        return gt_error_set(error, "the size '%.40s' is not a whole number", size);
    return 0;
}

static int read_csv(struct gt_task_costs *costs, struct gt_input *input, const char *path, struct gt_error *error)
{
    struct columns columns = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, false };
    struct gt_csv csv;
    int status;

    gt_csv_open(&csv, input);
    status = gt_csv_next(&csv, error);
    if (status == 0)
        status = gt_error_set(error, "the table is empty");
    else if (status == 1)
        status = find_columns(&csv, &columns, error) == 0 ? 1 : -1;
    while (status == 1 && (status = gt_csv_next(&csv, error)) == 1)
        if (read_row(costs, &csv, &columns, error) != 0)
            status = -1;
    if (status != 0)
        gt_error_prefix(error, "%s:%llu: ", path, (unsigned long long)csv.line);
    gt_csv_close(&csv);
    return status;
}

/* A time of JSON, for the reader of texts. */
static int add_token(struct gt_task_costs *costs, const struct gt_json_token *kind, const struct gt_json_token *time,
                     int exponent, struct gt_error *error)
{
    char text[64];

    if (time->type != GT_JSON_NUMBER || time->length >= sizeof text)
        return gt_error_set(error, "kind %.*s: a time is a number, or a list of [size, time]",
                            kind->length < SHOWN ? (int)kind->length : SHOWN, kind->text);
    memcpy(text, time->text, time->length);
    text[time->length] = '\0';
    return add(costs, kind->text, kind->length, text, exponent, error);
}

static int read_sizes(struct gt_task_costs *costs, const struct gt_json_token *kind, int exponent, bool operations,
                      struct gt_error *error)
{
    const struct gt_json_token *list = kind + 1;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        uint64_t size;

        if (item->type != GT_JSON_ARRAY || item->span != 3 || item[1].type != GT_JSON_NUMBER ||
            gt_decimal_parse(item[1].text, item[1].length, 0, INT64_MAX, &size, error) != 0)
            return gt_error_set(error, "kind %.*s: a list is of [size, time]",
                                kind->length < SHOWN ? (int)kind->length : SHOWN, kind->text);
        if (add_token(costs, kind, item + 2, exponent, error) != 0)
            return -1;
        costs->costs[costs->count - 1].size = size;
        costs->costs[costs->count - 1].operations = operations;
    }
    return 0;
}

static int read_kinds(struct gt_task_costs *costs, const struct gt_json_token *root, struct gt_error *error)
{
    const struct gt_json_token *by = gt_document_field(root, "by"), *kinds = NULL;
    bool operations = by != NULL && by->type == GT_JSON_STRING && by->length == 10;
    int exponent = 0;

    if (by != NULL && (by->type != GT_JSON_STRING || (strncmp(by->text, "operations", by->length) != 0 &&
                                                      strncmp(by->text, "bytes", by->length) != 0)))
        return gt_error_set(error, "\"by\" is bytes or operations");
    for (unsigned u = 0; u < UNITS && kinds == NULL; u++) {
        kinds = gt_document_field(root, units[u].column);
        exponent = units[u].exponent;
    }
    if (kinds == NULL || kinds->type != GT_JSON_OBJECT)
        return gt_error_set(error, "no times: {\"time_us\":{\"KIND\":TIME, \"KIND\":[[BYTES,TIME], ...]}}");
    for (const struct gt_json_token *kind = kinds + 1; kind < kinds + kinds->span; kind += 1 + kind[1].span)
        if (kind[1].type == GT_JSON_ARRAY ? read_sizes(costs, kind, exponent, operations, error) != 0
                                          : add_token(costs, kind, kind + 1, exponent, error) != 0)
            return -1;
    return 0;
}

static int read_json(struct gt_task_costs *costs, struct gt_input *input, const char *path, struct gt_error *error)
{
    const struct gt_import_options options = { .input = input };
    struct gt_document document;
    int status = gt_document_read(&document, path, &options, error);

    if (status == 0) {
        status = read_kinds(costs, document.root, error);
        if (status != 0)
            gt_error_prefix(error, "%s: ", path);
    }
    gt_document_close(&document);
    return status;
}

static int compare(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    int kinds = strcmp(a->kind, b->kind);

    return kinds != 0 ? kinds : a->size < b->size ? -1 : a->size > b->size;
}

/* One time a kind, or one a size. */
static int check(const struct gt_task_costs *costs, const char *path, struct gt_error *error)
{
    if (costs->count == 0)
        return gt_error_set(error, "%s: no times in it", path);
    for (uint32_t i = 1; i < costs->count; i++) {
        const struct cost *one = &costs->costs[i - 1], *two = &costs->costs[i];

        if (strcmp(one->kind, two->kind) != 0)
            continue;
        if (one->size == two->size || two->size == NO_SIZE)
            return gt_error_set(error,
                                "%s: kind %.60s has two times of the same size, or one with and one without a "
                                "size",
                                path, one->kind);
    }
    return 0;
}

static bool is_json(struct gt_input *input)
{
    size_t bytes, at = 0;
    const unsigned char *head = gt_input_head(input, HEAD_BYTES, &bytes);

    while (at < bytes && isspace(head[at]))
        at++;
    return at < bytes && head[at] == '{';
}

/* A row without a time for each kind. */
static int read_recording(struct gt_task_costs *costs, struct gt_input *input, const char *path, uint32_t clock_mhz,
                          struct gt_error *error)
{
    costs->is_recorded = true;
    if (gt_task_slices_read(&costs->recorded, input, path, clock_mhz, error) != 0)
        return -1;
    for (uint32_t k = 0; k < costs->recorded.kind_count; k++) {
        gt_array_grow(costs->costs, costs->count, costs->room);
        costs->costs[costs->count++] =
            (struct cost){ .kind = gt_strdup(costs->recorded.kinds[k]), .size = NO_SIZE, .recorded = k };
    }
    return 0;
}

const struct gt_task_slices *gt_task_costs_recorded(const struct gt_task_costs *costs)
{
    return costs->is_recorded ? &costs->recorded : NULL;
}

static bool is_recording(struct gt_input *input)
{
    size_t bytes;
    const unsigned char *head = gt_input_head(input, HEAD_BYTES, &bytes);

    return gt_task_slices_sniff(head, bytes);
}

struct gt_task_costs *gt_task_costs_read(const char *path, uint32_t clock_mhz, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct gt_task_costs *costs;
    int status;

    if (input == NULL)
        return NULL;
    costs = gt_calloc(1, sizeof *costs);
    if (is_recording(input))
        status = read_recording(costs, input, path, clock_mhz, error);
    else
        status = is_json(input) ? read_json(costs, input, path, error) : read_csv(costs, input, path, error);
    gt_input_close(input);
    if (status == 0) {
        qsort(costs->costs, costs->count, sizeof *costs->costs, compare);
        status = check(costs, path, error);
    }
    if (status == 0)
        return costs;
    gt_task_costs_free(costs);
    return NULL;
}

void gt_task_costs_free(struct gt_task_costs *costs)
{
    if (costs == NULL)
        return;
    for (uint32_t i = 0; i < costs->count; i++)
        free(costs->costs[i].kind);
    free(costs->costs);
    gt_task_slices_free(&costs->recorded);
    free(costs);
}

static bool is_called(const struct cost *cost, const char *name, size_t length)
{
    return strlen(cost->kind) == length && memcmp(cost->kind, name, length) == 0;
}

/* The rows called so: costs[*first] to costs[result - 1]. */
static uint32_t find_called(const struct gt_task_costs *costs, const char *name, size_t length, uint32_t *first)
{
    uint32_t end;

    *first = 0;
    while (*first < costs->count && !is_called(&costs->costs[*first], name, length))
        ++*first;
    end = *first;
    while (end < costs->count && is_called(&costs->costs[end], name, length))
        end++;
    return end;
}

/* Those of a kind, or else of its first word, behind which an imported kind has its sizes. */
static uint32_t find_rows(const struct gt_task_costs *costs, const char *kind, uint32_t *first)
{
    uint32_t end = find_called(costs, kind, strlen(kind), first);

    return end > *first ? end : find_called(costs, kind, strcspn(kind, " "), first);
}

static gt_time_ps scale(gt_time_ps time_ps, uint64_t size, uint64_t by)
{
    unsigned __int128 scaled = (unsigned __int128)time_ps * size / by;

    return scaled < GT_TIME_LIMIT_PS ? (gt_time_ps)scaled : GT_TIME_LIMIT_PS;
}

static gt_time_ps time_of(const struct cost *rows, uint32_t count, uint64_t size)
{
    const struct cost *low, *high;
    uint32_t i = 0;

    while (i < count && rows[i].size <= size)
        i++;
    if (i == 0 || rows[i - 1].size == size)
        return rows[i == 0 ? 0 : i - 1].time_ps;
    low = &rows[i - 1];
    if (i == count)
        return low->size == 0 ? low->time_ps : scale(low->time_ps, size, low->size);
    high = &rows[i];
    if (high->time_ps >= low->time_ps)
        return low->time_ps + scale(high->time_ps - low->time_ps, size - low->size, high->size - low->size);
    return low->time_ps - scale(low->time_ps - high->time_ps, size - low->size, high->size - low->size);
}

/* Rows whose kind a graph has. */
static void mark_used(struct gt_task_costs *costs, const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < costs->count; i++)
        costs->costs[i].used = false;
    for (uint32_t g = 0; g < workload->task_graph_count; g++) {
        const struct gt_task_graph *graph = workload->task_graphs[g];

        for (gt_task_kind_index k = 0; k < graph->kind_count; k++) {
            uint32_t first, end = find_rows(costs, gt_name_text(workload, graph->kinds[k].name), &first);

            for (uint32_t i = first; i < end; i++)
                costs->costs[i].used = true;
        }
    }
}

/* What the profiler shows of the workers' scheduler is no task. */
static void keep_used(struct gt_task_costs *costs)
{
    bool *kept = gt_calloc(costs->recorded.kind_count + 1ull, sizeof *kept);

    for (uint32_t i = 0; i < costs->count; i++)
        kept[costs->costs[i].recorded] = costs->costs[i].used;
    gt_task_slices_keep(&costs->recorded, kept);
    free(kept);
}

/* Pricing: the rows of each kind of a graph, and which of its tasks are the first of a worker. */
struct pricing {
    struct gt_recorded_costs *recorded; /* NULL: the rows have times */
    uint32_t *first, *end;              /* by kind, in costs->costs */
    bool *begun;                        /* by worker */
    uint32_t workers, unlisted;         /* of the recording; tasks in no list, so far: each worker begins with one */
};

static bool is_first(struct pricing *pricing, const struct gt_task *task)
{
    bool first = task->worker == GT_NONE ? pricing->unlisted++ < pricing->workers : !pricing->begun[task->worker];

    if (task->worker != GT_NONE)
        pricing->begun[task->worker] = true;
    return first;
}

static gt_time_ps price_of(const struct gt_task_costs *costs, struct pricing *pricing,
                           const struct gt_task_graph *graph, gt_task_index t)
{
    const struct gt_task *task = &graph->tasks[t];
    const struct cost *rows = &costs->costs[pricing->first[task->kind]];
    uint32_t count = pricing->end[task->kind] - pricing->first[task->kind];

    if (count == 0)
        return GT_TIME_NONE;
    if (pricing->recorded != NULL)
        return gt_recorded_costs_draw(pricing->recorded, rows->recorded, is_first(pricing, task));
    return time_of(rows, count, rows->operations ? gt_task_operations(graph, t) : gt_task_bytes(graph, t));
}

static void price_graph(struct gt_task_costs *costs, struct pricing *pricing, struct gt_task_graph *graph,
                        struct gt_task_cost_report *report)
{
    for (gt_task_index t = 0; t < graph->task_count; t++) {
        struct gt_task *task = &graph->tasks[t];
        bool has = task->time_ps != GT_TIME_NONE || graph->kinds[task->kind].cost != GT_TASK_COST_NONE;

        if (!has)
            task->time_ps = price_of(costs, pricing, graph, t);
        report->had += has;
        report->priced += !has && task->time_ps != GT_TIME_NONE;
        report->without += !has && task->time_ps == GT_TIME_NONE;
    }
}

static bool only_lists(const struct gt_task_graph *graph)
{
    bool listed = graph->wait_count == 0 && graph->made_count == 0;

    for (gt_task_index t = 0; listed && t < graph->task_count; t++)
        listed = graph->tasks[t].worker != GT_NONE;
    return listed;
}

static void attach_to(struct gt_task_costs *costs, const struct gt_workload *workload, struct gt_task_graph *graph,
                      struct gt_recorded_costs *recorded, struct gt_task_cost_report *report)
{
    uint64_t before = report->priced;
    struct pricing pricing = { .recorded = recorded, .workers = costs->recorded.workers };
    uint32_t workers = 0;

    pricing.first = gt_calloc(graph->kind_count + 1ull, sizeof *pricing.first);
    pricing.end = gt_calloc(graph->kind_count + 1ull, sizeof *pricing.end);
    for (gt_task_kind_index k = 0; k < graph->kind_count; k++)
        pricing.end[k] = find_rows(costs, gt_name_text(workload, graph->kinds[k].name), &pricing.first[k]);
    for (gt_task_index t = 0; t < graph->task_count; t++)
        if (graph->tasks[t].worker != GT_NONE && graph->tasks[t].worker >= workers)
            workers = graph->tasks[t].worker + 1;
    pricing.begun = gt_calloc(workers + 1ull, sizeof *pricing.begun);
    price_graph(costs, &pricing, graph, report);
    if (recorded != NULL && report->priced - before == graph->task_count && only_lists(graph)) {
        graph->between_ps = gt_recorded_costs_between(recorded);
        report->between_ps = graph->between_ps;
    }
    free(pricing.first);
    free(pricing.end);
    free(pricing.begun);
}

void gt_task_costs_attach(struct gt_task_costs *costs, struct gt_workload *workload,
                          struct gt_task_cost_report *report)
{
    struct gt_recorded_costs *recorded = NULL;

    *report = (struct gt_task_cost_report){ .unused = NULL, .between_ps = GT_TIME_NONE };
    mark_used(costs, workload);
    if (costs->is_recorded) {
        keep_used(costs);
        recorded = gt_recorded_costs_new(&costs->recorded);
    }
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        attach_to(costs, workload, workload->task_graphs[i], recorded, report);
    for (uint32_t i = 0; i < costs->count && report->unused == NULL; i++)
        if (!costs->costs[i].used)
            report->unused = costs->costs[i].kind;
    if (recorded != NULL)
        gt_recorded_costs_free(recorded);
}
