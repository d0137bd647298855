#include "traces/tasks/costs_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/io/csv.h"
#include "traces/io/decimal.h"
#include "traces/tasks/document.h"

enum { SHOWN = 60, HEAD_BYTES = 4096 };
static const struct unit {
    const char *column;
    int exponent; /* of 10, in picoseconds */
} units[] = { { "time_us", 6 }, { "time_ns", 3 }, { "time_ms", 9 }, { "time_s", 12 }, { "time_ps", 0 } };
enum { UNITS = sizeof units / sizeof *units };

static int add(struct gt_task_costs *costs, const char *kind, size_t length, const char *time, int exponent,
               struct gt_error *error)
{
    struct gt_cost_row cost = { .size = GT_COST_OF_ANY_SIZE };

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
    struct gt_cost_row *cost;

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
    const struct gt_cost_row *a = left, *b = right;
    int kinds = strcmp(a->kind, b->kind);

    return kinds != 0 ? kinds : a->size < b->size ? -1 : a->size > b->size;
}

/* One time a kind, or one a size. */
static int check(const struct gt_task_costs *costs, const char *path, struct gt_error *error)
{
    if (costs->count == 0)
        return gt_error_set(error, "%s: no times in it", path);
    for (uint32_t i = 1; i < costs->count; i++) {
        const struct gt_cost_row *one = &costs->costs[i - 1], *two = &costs->costs[i];

        if (strcmp(one->kind, two->kind) != 0)
            continue;
        if (one->size == two->size || two->size == GT_COST_OF_ANY_SIZE)
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
        costs->costs[costs->count++] = (struct gt_cost_row){ .kind = gt_strdup(costs->recorded.kinds[k]),
                                                             .size = GT_COST_OF_ANY_SIZE,
                                                             .recorded = k };
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
