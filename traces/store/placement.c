#include "traces/store/placement.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/device.h"
#include "traces/store/query.h"

struct counts {
    uint32_t *by_sm;
    uint32_t sms, gpu;
};

struct gt_placement {
    struct counts *ops;
    uint32_t op_count;
};

struct gt_placement *gt_placement_new(uint32_t ops)
{
    struct gt_placement *placement = gt_calloc(1, sizeof *placement);

    placement->ops = gt_calloc(ops + 1ull, sizeof *placement->ops);
    placement->op_count = ops;
    return placement;
}

void gt_placement_free(struct gt_placement *placement)
{
    if (placement == NULL)
        return;
    for (uint32_t i = 0; i < placement->op_count; i++)
        free(placement->ops[i].by_sm);
    free(placement->ops);
    free(placement);
}

void gt_placement_add(struct gt_placement *placement, const struct gt_block_record *record, uint64_t times)
{
    struct counts *counts = &placement->ops[record->op];

    if (record->sm >= counts->sms) {
        counts->by_sm = gt_realloc(counts->by_sm, record->sm + 1ull, sizeof *counts->by_sm);
        while (counts->sms <= record->sm)
            counts->by_sm[counts->sms++] = 0;
    }
    counts->by_sm[record->sm] += (uint32_t)(times * record->blocks);
    counts->gpu = record->gpu;
}

char *gt_placement_text(const struct gt_placement *placement, uint32_t op, uint32_t *gpu)
{
    const struct counts *counts = &placement->ops[op];
    char *text;
    size_t bytes;
    FILE *out;

    if (counts->sms == 0)
        return NULL;
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        gt_bug("open_memstream failed");
    for (uint32_t sm = 0; sm < counts->sms; sm++)
        fprintf(out, "%c%u", sm == 0 ? '[' : ',', counts->by_sm[sm]);
    fputc(']', out);
    fclose(out);
    *gpu = counts->gpu;
    return text;
}

/* A list on its way out of the store. */
struct list {
    uint32_t *blocks, sms, room;
};

/* Read "[8,0,8]". */
static int read_list(struct list *list, const char *text, uint32_t op, struct gt_error *error)
{
    const char *at = text;

    list->sms = 0;
    while (at != NULL && *at == (list->sms == 0 ? '[' : ',') && list->sms < GT_DEVICE_MAX_SMS) {
        char *end;
        unsigned long count;

        errno = 0;
        count = strtoul(at + 1, &end, 10);
        if (at[1] < '0' || at[1] > '9' || errno != 0 || count > UINT32_MAX)
            break;
        if (list->sms == list->room) {
            list->room = list->room == 0 ? 64 : 2 * list->room;
            list->blocks = gt_realloc(list->blocks, list->room, sizeof *list->blocks);
        }
        list->blocks[list->sms++] = (uint32_t)count;
        at = end;
    }
    if (at == NULL || strcmp(at, list->sms == 0 ? "[]" : "]") != 0)
        return gt_error_set(error, "the placement of operation %" PRIu32 " in the store is damaged", op);
    return 0;
}

static int take_row(struct gt_query *query, struct list *list, gt_placement_fn *each, void *user,
                    struct gt_error *error)
{
    struct gt_placement_row row = { .op = (uint32_t)gt_query_integer(query, 0),
                                    .gpu = (uint32_t)gt_query_integer(query, 1) };

    if (read_list(list, gt_query_string(query, 2), row.op, error) != 0)
        return -1;
    row.blocks = list->blocks;
    row.sms = list->sms;
    row.start_ps = (gt_time_ps)gt_query_integer(query, 3);
    row.end_ps = (gt_time_ps)gt_query_integer(query, 4);
    return each(user, &row, error);
}

int gt_placement_each(struct gt_database *database, int64_t run_id, gt_placement_fn *each, void *user,
                      struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT p.op_no, p.gpu_no, p.sm_blocks, o.start_ps, o.end_ps FROM run_placement p"
                     " JOIN run_op o ON o.run_id = p.run_id AND o.op_no = p.op_no WHERE p.run_id = ?1"
                     " ORDER BY p.op_no, p.gpu_no",
                     error);
    struct list list = { NULL, 0, 0 };
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    while ((row = gt_query_next(query, error)) == 1)
        if (take_row(query, &list, each, user, error) != 0)
            break;
    gt_query_end(query);
    free(list.blocks);
    return row == 0 ? 0 : -1;
}

/* Blocks that two lists have on different SMs, twice. */
static double difference(const struct list *left, const struct list *right)
{
    double sum = 0;

    for (uint32_t sm = 0; sm < left->sms || sm < right->sms; sm++)
        sum +=
            fabs((sm < left->sms ? (double)left->blocks[sm] : 0) - (sm < right->sms ? (double)right->blocks[sm] : 0));
    return sum;
}

/* Rows of the left run's list and the right one's. */
static int add_differences(struct gt_query *query, double *moved, double *blocks, struct gt_error *error)
{
    struct list left = { NULL, 0, 0 }, right = { NULL, 0, 0 };
    int row;

    while ((row = gt_query_next(query, error)) == 1) {
        uint32_t op = (uint32_t)gt_query_integer(query, 0);

        if (read_list(&left, gt_query_string(query, 1), op, error) != 0 ||
            read_list(&right, gt_query_string(query, 2), op, error) != 0)
            break;
        *moved += difference(&left, &right) / 2;
        for (uint32_t sm = 0; sm < left.sms; sm++)
            *blocks += left.blocks[sm];
    }
    free(left.blocks);
    free(right.blocks);
    return row == 0 ? 0 : -1;
}

int gt_placement_distance(struct gt_database *database, int64_t left_run, int64_t right_run, double *pct,
                          struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(database,
                     "SELECT a.op_no, a.sm_blocks, b.sm_blocks FROM run_placement a"
                     " JOIN run_placement b ON b.run_id = ?2 AND b.op_no = a.op_no AND b.gpu_no = a.gpu_no"
                     " WHERE a.run_id = ?1",
                     error);
    double moved = 0, blocks = 0;
    int result;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, left_run);
    gt_query_bind(query, 2, right_run);
    result = add_differences(query, &moved, &blocks, error);
    gt_query_end(query);
    *pct = blocks > 0 ? 100 * moved / blocks : NAN;
    return result == 0 ? 0 : gt_database_name_error(database, error);
}
