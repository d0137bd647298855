/* ranges.c - NVTX ranges: pushed and popped, or started and ended anywhere. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/nsys/internal.h"

enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, DOMAIN, COLUMNS };
static const struct gt_db_column columns[COLUMNS] = {
    [START] = { "start", GT_DB_COLUMN, GT_DB_ANY },       [END] = { "end", GT_DB_MAY_LACK, GT_DB_ANY },
    [TYPE] = { "eventType", GT_DB_COLUMN, GT_DB_ANY },    [TEXT] = { "text", GT_DB_TEXT, 0, 0 },
    [TEXT_ID] = { "textId", GT_DB_MAY_LACK, GT_DB_ANY },  [THREAD] = { "globalTid", GT_DB_MAY_LACK, GT_DB_ANY },
    [DOMAIN] = { "domainId", GT_DB_MAY_LACK, GT_DB_ANY },
};
static const struct gt_db_table table = { "NVTX_EVENTS", columns, COLUMNS };

enum meaning { PUSH_POP = 1, START_END, DOMAIN_CREATE };
static const struct gt_nsys_meaning known_types[] = {
    { 59, "NvtxPushPopRange", PUSH_POP },
    { 60, "NvtxStartEndRange", START_END },
    { 75, "NvtxDomainCreate", DOMAIN_CREATE },
};

/* What a process calls one of its domains. */
struct domain {
    uint64_t process;
    int64_t id;
    uint32_t name;
};

struct range_reader {
    struct gt_nsys *nsys;
    struct gt_nsys_meanings types;
    struct domain *domains;
    uint32_t domain_count, domain_room;
};

static int meaning_of(const struct range_reader *reader, const struct gt_db_rows *rows)
{
    int64_t type = rows->value[TYPE];

    return type >= 0 && type < GT_NSYS_MEANINGS ? reader->types.of[type] : -1;
}

/* A row's text as a name of the workload; GT_NONE where it has none. */
static int read_text(struct gt_nsys *nsys, const struct gt_db_rows *rows, uint32_t *name, struct gt_error *error)
{
    const char *text = gt_db_row_text(rows, TEXT);

    if (text == NULL || *text == '\0')
        return gt_nsys_name(nsys, rows->value[TEXT_ID], name, error);
    *name = gt_name(nsys->import.workload, text, strlen(text));
    return 0;
}

static int read_domain(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct range_reader *reader = user;
    struct domain domain = { gt_nsys_process(rows->value[THREAD]), rows->value[DOMAIN], GT_NONE };

    if (meaning_of(reader, rows) != DOMAIN_CREATE || domain.id == GT_DB_NULL)
        return 0;
    if (read_text(reader->nsys, rows, &domain.name, error) != 0)
        return -1;
    if (domain.name == GT_NONE)
        return 0;
    gt_array_grow(reader->domains, reader->domain_count, reader->domain_room);
    reader->domains[reader->domain_count++] = domain;
    return 0;
}

static int compare_domains(const void *left, const void *right)
{
    const struct domain *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->id, b->id);
    return 0;
}

/* "NCCL:ncclAllReduce", as nsys itself writes what is in a domain; the default domain has no name. */
static uint32_t name_in_domain(struct range_reader *reader, const struct gt_db_rows *rows, uint32_t name)
{
    const struct domain key = { gt_nsys_process(rows->value[THREAD]), rows->value[DOMAIN], GT_NONE };
    struct gt_workload *workload = reader->nsys->import.workload;
    const struct domain *domain = NULL;
    char *whole;

    if (reader->domain_count > 0 && key.id != 0 && key.id != GT_DB_NULL)
        domain = bsearch(&key, reader->domains, reader->domain_count, sizeof key, compare_domains);
    if (domain == NULL)
        return name;
    whole = gt_format("%s:%s", gt_name_text(workload, domain->name), gt_name_text(workload, name));
    name = gt_name(workload, whole, strlen(whole));
    free(whole);
    return name;
}

/* The name of a row that is a range, and its kind; GT_NONE: it has none. */
static int read_name(struct range_reader *reader, const struct gt_db_rows *rows, uint32_t *name, uint8_t *kind,
                     struct gt_error *error)
{
    const char *text = gt_db_row_text(rows, TEXT);

    *kind = GT_RANGE_NVTX;
    if (text != NULL && *text != '\0')
        *name = gt_import_marker_name(&reader->nsys->import, text, strlen(text), kind);
    else if (gt_nsys_name(reader->nsys, rows->value[TEXT_ID], name, error) != 0)
        return -1;
    if (*name != GT_NONE)
        *name = name_in_domain(reader, rows, *name);
    return 0;
}

static int read_range(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct range_reader *reader = user;
    struct gt_import *import = &reader->nsys->import;
    const int64_t *value = rows->value;
    int meaning = meaning_of(reader, rows);
    struct gt_import_range *range;
    uint64_t process;
    uint32_t name;
    uint8_t kind;

    if (meaning != PUSH_POP && meaning != START_END)
        return 0;
    if (read_name(reader, rows, &name, &kind, error) != 0)
        return -1;
    /* Without an end: not over when the recording was. */
    if (name == GT_NONE || value[THREAD] == GT_DB_NULL || value[START] < 0 || value[END] < value[START]) {
        gt_import_warn(import->workload, "ranges-unreadable", 1);
        return 0;
    }
    process = gt_nsys_process(value[THREAD]);
    range = gt_import_add_range(import, gt_import_range_thread(import, process, gt_nsys_shown_process(process),
                                                               (uint64_t)value[THREAD] & 0xffffff));
    range->start_ns = value[START];
    range->end_ns = value[END];
    range->name = name;
    range->kind = kind;
    range->flags = meaning == START_END ? GT_RANGE_UNNESTED : 0;
    return 0;
}

int gt_nsys_read_ranges(struct gt_nsys *nsys, struct gt_error *error)
{
    struct range_reader reader = { .nsys = nsys };
    int status;

    if (gt_nsys_read_meanings(nsys, "ENUM_NSYS_EVENT_TYPE", known_types, sizeof known_types / sizeof known_types[0],
                              &reader.types, error) != 0)
        return -1;
    status = gt_db_each_row(&nsys->db, &table, read_domain, &reader, error);
    if (reader.domain_count > 1)
        qsort(reader.domains, reader.domain_count, sizeof *reader.domains, compare_domains);
    if (status == 0)
        status = gt_db_each_row(&nsys->db, &table, read_range, &reader, error);
    free(reader.domains);
    return status;
}
