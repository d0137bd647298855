/* plain_rows.c - plain fields of kernels, calls, operations and ranges (sim/workload/plain_fields.h) as rows of plain_value, and
 * back. */
#include "traces/store/plain_rows.h"

#include <inttypes.h>
#include <string.h>

#include "traces/store/query.h"
#include "traces/store/row_source.h"

enum { IN_TRACE, IN_STORE };

struct field {
    const char *name;
    size_t offset, bytes; /* of the member */
    int store;            /* IN_TRACE, IN_STORE */
};
/* Times are in picoseconds here, and named so. */
/* clang-format off */
#define NAME_U32(key)  key
#define NAME_U64(key)  key
#define NAME_BOOL(key) key
#define NAME_TIME(key) key "_ps"
#define FIELD(of, member, type, key, store) { NAME_##type(key), offsetof(struct of, member), sizeof(((struct of *)0)->member), store },
#define KERNEL_FIELD(member, ctype, type, key, store) FIELD(gt_kernel, member, type, key, store)
#define CALL_FIELD(member, ctype, type, key, store)   FIELD(gt_call, member, type, key, store)
#define OP_FIELD(member, ctype, type, key, store)     FIELD(gt_op, member, type, key, store)
#define RANGE_FIELD(member, ctype, type, key, store)  FIELD(gt_range, member, type, key, store)
/* clang-format on */
static const struct field kernel_fields[] = { GT_KERNEL_PLAIN(KERNEL_FIELD) };
static const struct field call_fields[] = { GT_CALL_PLAIN(CALL_FIELD) };
static const struct field op_fields[] = { GT_OP_PLAIN(OP_FIELD) };
static const struct field range_fields[] = { GT_RANGE_PLAIN(RANGE_FIELD) };

/* What has such fields: an array of the workload. */
static const struct element {
    const char *name;
    size_t array_offset, count_offset, bytes;
    const struct field *fields;
    size_t field_count;
} elements[] = {
#define ELEMENT(name, array, fields)                                                            \
    {                                                                                           \
#name, offsetof(struct gt_workload, array), offsetof(struct gt_workload, name##_count), \
            sizeof *((struct gt_workload *)0)->array, fields, sizeof fields / sizeof fields[0]  \
    }
    ELEMENT(kernel, kernels, kernel_fields),
    ELEMENT(call, calls, call_fields),
    ELEMENT(op, ops, op_fields),
    ELEMENT(range, ranges, range_fields),
};

/* The rows of one field of one kind of element. */
struct field_rows {
    const struct element *element;
    const struct field *field;
    const char *array;
};

static uint64_t value_of(const struct field_rows *rows, uint64_t row)
{
    const char *member = rows->array + row * rows->element->bytes + rows->field->offset;
    uint64_t value = 0;

    memcpy(&value, member, rows->field->bytes); /* little-endian, as every host that CUDA runs on */
    return value;
}

static bool is_given(const void *rows, uint64_t row)
{
    return value_of(rows, row) != 0;
}

static void plain_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct field_rows *rows = user;
    uint64_t value;

    switch (column) {
    case 1: sqlite3_result_text(result, rows->element->name, -1, SQLITE_STATIC); return;
    case 2: sqlite3_result_int64(result, (int64_t)row); return;
    case 3: sqlite3_result_text(result, rows->field->name, -1, SQLITE_STATIC); return;
    default:
        value = value_of(rows, row);
        sqlite3_result_int64(result, value > INT64_MAX ? INT64_MAX : (int64_t)value);
    }
}

static int insert_fields(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                         const struct element *element, struct gt_error *error)
{
    struct field_rows rows = { .element = element };
    uint32_t count;
    int result = 0;

    memcpy(&count, (const char *)workload + element->count_offset, sizeof count);
    memcpy(&rows.array, (const char *)workload + element->array_offset, sizeof rows.array);
    for (size_t i = 0; i < element->field_count && result == 0; i++) {
        const struct gt_row_source source = { "plain_value", 5, trace_id, count, is_given, plain_value, &rows };
        uint64_t done = 0;

        rows.field = &element->fields[i];
        if (rows.field->store == IN_STORE)
            result = gt_store_insert(store, &source, &done, count, error);
    }
    return result;
}

int gt_store_plain(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                   struct gt_error *error)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (insert_fields(store, trace_id, workload, &elements[i], error) != 0)
            return -1;
    return 0;
}

static void set_field(const struct element *element, void *of, const char *name, int64_t value)
{
    for (size_t i = 0; i < element->field_count; i++)
        if (element->fields[i].store == IN_STORE && strcmp(element->fields[i].name, name) == 0)
            memcpy((char *)of + element->fields[i].offset, &value, element->fields[i].bytes);
}

int gt_trace_plain_kernels(struct gt_database *database, int64_t trace_id, struct gt_kernel *kernels, uint32_t count,
                           struct gt_error *error)
{
    struct gt_query *query;
    int64_t version = 0;
    int row;

    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_PLAIN)
        return 0;
    query = gt_query_new(
        database, "SELECT number, field, value FROM plain_value WHERE trace_id = ?1 AND element = 'kernel'", error);
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, trace_id);
    while ((row = gt_query_next(query, error)) == 1) {
        int64_t number = gt_query_integer(query, 0);
        const char *field = gt_query_string(query, 1);

        if (number >= 0 && number < count && field != NULL)
            set_field(&elements[0], &kernels[number], field, gt_query_integer(query, 2));
    }
    gt_query_end(query);
    return row;
}
