/* lookups.c - the tables of a set, and rows that others name by id: strings, kernels, events, time stamps, tracks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "traces/rocpd/internal.h"

struct rocpd_text {
    UT_hash_handle hh;
    struct text_key {
        int64_t id;
        uint32_t set, lookup;
    } key;
    char *text; /* NULL: there is none */
};

static const struct {
    const char *table, *columns;
} lookups[ROCPD_LOOKUPS] = {
    [ROCPD_STRING] = { "rocpd_string", "string" },
    [ROCPD_CATEGORY] = { "rocpd_info_category", "name" },
    [ROCPD_KERNEL] = { "rocpd_info_kernel_symbol", "coalesce(nullif(display_name, ''), kernel_name)" },
    [ROCPD_EVENT] = { "rocpd_event", "stack_id, category_id, extdata" },
    [ROCPD_TIMESTAMP] = { "rocpd_timestamp", "value" },
    [ROCPD_TRACK] = { "rocpd_track", "pid, tid, agent_id, queue_id, stream_id" },
};

void rocpd_table_name(const struct rocpd *rocpd, const char *table, char name[ROCPD_TABLE_BYTES])
{
    snprintf(name, ROCPD_TABLE_BYTES, "%s%s", table, rocpd->suffixes[rocpd->set]);
}

int rocpd_each_row(struct rocpd *rocpd, const char *table, const struct gt_db_column *columns, size_t count,
                   int (*row)(void *user, const struct gt_db_rows *rows, struct gt_error *error),
                   struct gt_error *error)
{
    char name[ROCPD_TABLE_BYTES];
    const struct gt_db_table of_set = { name, columns, count };

    rocpd_table_name(rocpd, table, name);
    return gt_db_each_row(&rocpd->db, &of_set, row, rocpd, error);
}

/* Find the row: 1; 0: there is none; -1.  Its columns are good until the next look-up of the sort. */
static int look_up(struct rocpd *rocpd, enum rocpd_lookup which, int64_t id, struct gt_error *error)
{
    char *table = rocpd->lookup_tables[which], sql[512];

    if (rocpd->lookups[which] == NULL) {
        rocpd_table_name(rocpd, lookups[which].table, table);
        snprintf(sql, sizeof sql, "SELECT %s FROM main.\"%s\" WHERE id = ?1", lookups[which].columns, table);
        rocpd->lookups[which] = gt_db_query(&rocpd->db, table, sql, error);
        if (rocpd->lookups[which] == NULL)
            return -1;
    }
    gt_query_rewind(rocpd->lookups[which]);
    gt_query_bind(rocpd->lookups[which], 1, id);
    return gt_query_next(rocpd->lookups[which], error);
}

void rocpd_end_lookups(struct rocpd *rocpd)
{
    for (int i = 0; i < ROCPD_LOOKUPS; i++) {
        gt_query_end(rocpd->lookups[i]);
        rocpd->lookups[i] = NULL;
    }
}

void rocpd_free_texts(struct rocpd *rocpd)
{
    struct rocpd_text *text, *next;

    HASH_ITER(hh, rocpd->texts, text, next)
    {
        HASH_DEL(rocpd->texts, text);
        free(text->text);
        free(text);
    }
}

/* Each text is read once. */
static int find_text(struct rocpd *rocpd, enum rocpd_lookup which, int64_t id, const char **text,
                     struct gt_error *error)
{
    const struct text_key key = { .id = id, .set = rocpd->set, .lookup = which };
    struct rocpd_text *found;
    int status;

    *text = NULL;
    if (id == GT_DB_NULL)
        return 0;
    HASH_FIND(hh, rocpd->texts, &key, sizeof key, found);
    if (found == NULL) {
        struct gt_query *query;

        status = look_up(rocpd, which, id, error);
        if (status < 0)
            return -1;
        query = rocpd->lookups[which];
        found = gt_calloc(1, sizeof *found);
        found->key = key;
        if (status == 1 && gt_query_is_text(query, 0) && *gt_query_string(query, 0) != '\0')
            found->text = gt_query_text(query, 0);
        HASH_ADD(hh, rocpd->texts, key, sizeof found->key, found);
    }
    *text = found->text;
    return 0;
}

int rocpd_string(struct rocpd *rocpd, int64_t id, const char **text, struct gt_error *error)
{
    return find_text(rocpd, ROCPD_STRING, id, text, error);
}

int rocpd_kernel_name(struct rocpd *rocpd, int64_t id, const char **text, struct gt_error *error)
{
    return find_text(rocpd, ROCPD_KERNEL, id, text, error);
}

/* An integer column of the row that was looked up; GT_DB_NULL where it has none. */
static int64_t column_of(struct rocpd *rocpd, enum rocpd_lookup which, int column)
{
    struct gt_query *query = rocpd->lookups[which];

    return gt_query_is_integer(query, column) ? gt_query_integer(query, column) : GT_DB_NULL;
}

int rocpd_read_event(struct rocpd *rocpd, int64_t id, struct rocpd_event *event, const char **extra,
                     struct gt_error *error)
{
    int64_t stack = 0, category = GT_DB_NULL;
    int status = id == GT_DB_NULL ? 0 : look_up(rocpd, ROCPD_EVENT, id, error);

    *event = (struct rocpd_event){ .correlation = GT_NO_CORRELATION };
    if (extra != NULL)
        *extra = NULL;
    if (status < 0)
        return -1;
    if (status == 1) {
        stack = column_of(rocpd, ROCPD_EVENT, 0);
        category = column_of(rocpd, ROCPD_EVENT, 1);
        if (extra != NULL && gt_query_is_text(rocpd->lookups[ROCPD_EVENT], 2))
            *extra = gt_query_string(rocpd->lookups[ROCPD_EVENT], 2);
    }
    if (stack > 0 && stack < GT_NO_CORRELATION) /* 0: nobody asked for it */
        event->correlation = (uint32_t)stack;
    return find_text(rocpd, rocpd->categories ? ROCPD_CATEGORY : ROCPD_STRING, category, &event->category, error);
}

/* The time in column `at`, or of the time stamp that column `by_id` names. */
static int read_time(struct rocpd *rocpd, const struct gt_db_rows *rows, int at, int by_id, int64_t *time_ns,
                     struct gt_error *error)
{
    *time_ns = rows->value[at];
    if (*time_ns == GT_DB_NULL && rows->value[by_id] != GT_DB_NULL) {
        int status = look_up(rocpd, ROCPD_TIMESTAMP, rows->value[by_id], error);

        if (status < 0)
            return -1;
        if (status == 1)
            *time_ns = column_of(rocpd, ROCPD_TIMESTAMP, 0);
    }
    if (*time_ns < 0)
        return gt_db_row_error(rows, error, "it has no %s time", at == ROCPD_AT_START ? "start" : "end");
    return 0;
}

/* What the row does not say itself, its track does. */
static int read_track(struct rocpd *rocpd, int64_t track, int64_t value[5], struct gt_error *error)
{
    int status = look_up(rocpd, ROCPD_TRACK, track, error);

    for (int i = 0; i < 5 && status == 1; i++)
        if (value[i] == GT_DB_NULL)
            value[i] = column_of(rocpd, ROCPD_TRACK, i);
    return status < 0 ? -1 : 0;
}

int rocpd_read_place(struct rocpd *rocpd, const struct gt_db_rows *rows, struct rocpd_place *place,
                     struct gt_error *error)
{
    int64_t value[] = { rows->value[ROCPD_AT_PROCESS], rows->value[ROCPD_AT_THREAD], rows->value[ROCPD_AT_AGENT],
                        rows->value[ROCPD_AT_QUEUE], rows->value[ROCPD_AT_STREAM] };

    if (read_time(rocpd, rows, ROCPD_AT_START, ROCPD_AT_START_ID, &place->start_ns, error) != 0 ||
        read_time(rocpd, rows, ROCPD_AT_END, ROCPD_AT_END_ID, &place->end_ns, error) != 0)
        return -1;
    if (place->end_ns < place->start_ns)
        return gt_db_row_error(rows, error, "it ends at %lld, before its start at %lld", (long long)place->end_ns,
                               (long long)place->start_ns);
    if (rows->value[ROCPD_AT_TRACK] != GT_DB_NULL &&
        read_track(rocpd, rows->value[ROCPD_AT_TRACK], value, error) != 0)
        return -1;
    place->shown_process = value[0] < 0 ? 0 : (uint64_t)value[0] & UINT32_MAX;
    place->process = (uint64_t)rocpd->set << 32 | place->shown_process;
    place->thread = value[1] < 0 ? 0 : (uint64_t)value[1];
    place->agent = value[2];
    place->queue = value[3];
    place->stream = value[4];
    return 0;
}
