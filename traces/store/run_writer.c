/* A run on its way into the store.
 *
 * Records come as things are settled, rows want the order of their keys: everything is kept, by index,
 * until the end and then appended table by table.  That is faster than inserting at random places,
 * and the store is locked for no longer than the writing takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/store/placement.h"
#include "traces/store/residency_bins.h"
#include "traces/store/row_source.h"

enum { BLOCK_ROWS_MAX = 1000000, TASK_ROWS_MAX = 1000000 };

struct counter {
    char *name;
    double value;
};

struct gt_run_writer {
    struct gt_store *store;
    const struct gt_workload *workload;
    struct gt_probe probe;
    gt_store_progress *progress; /* who watched the store at the beginning, */
    void *progress_user;         /* and for whom */
    int64_t trace_id, device_id;
    const char *kind;
    char *options;
    uint32_t repetition;
    bool measured;
    struct gt_call_record *calls; /* by call; .call is GT_NONE where there was none */
    struct gt_op_record *ops;     /* by operation; .op is GT_NONE where there was none */
    uint64_t call_rows, op_rows;
    struct gt_block_record *blocks; /* the first ones */
    uint64_t block_rows, block_room, blocks_dropped;
    struct gt_task_record *tasks; /* the first ones */
    uint64_t task_rows, task_room, tasks_dropped;
    struct gt_bins *bins;
    struct gt_placement *placement;         /* NULL: not kept */
    bool awaits;                            /* whole only with the next run */
    bool drop_blocks;                       /* neither every block nor the residency is kept */
    bool kernels;                           /* cycles are kept: */
    const struct gt_kernel_model *modelled; /* these, or NULL: of the workload's profiles */
    struct counter *counters;
    uint32_t counter_count;
    const struct gt_workload *ranges_of; /* whose calls tell where ranges lie */
};

static int take_call(void *user, const struct gt_call_record *record, struct gt_error *error)
{
    struct gt_run_writer *writer = user;

    (void)error;
    if (record->call >= writer->workload->call_count || writer->calls[record->call].call != GT_NONE)
        gt_bug("call %u was recorded twice or is not in the trace", record->call);
    writer->calls[record->call] = *record;
    writer->call_rows++;
    return 0;
}

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct gt_run_writer *writer = user;

    (void)error;
    if (record->op >= writer->workload->op_count || writer->ops[record->op].op != GT_NONE)
        gt_bug("operation %u was recorded twice or is not in the trace", record->op);
    writer->ops[record->op] = *record;
    writer->op_rows++;
    return 0;
}

static void keep_block(struct gt_run_writer *writer, struct gt_block_record record)
{
    if (writer->placement != NULL)
        gt_placement_add(writer->placement, &record, 1);
    if (!writer->drop_blocks)
        gt_bins_add(writer->bins, &record);
    if (writer->drop_blocks || writer->block_rows == BLOCK_ROWS_MAX) {
        writer->blocks_dropped += record.blocks;
        return;
    }
    gt_array_grow(writer->blocks, writer->block_rows, writer->block_room);
    writer->blocks[writer->block_rows++] = record;
}

static int take_blocks(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    (void)error;
    keep_block(user, *record);
    return 0;
}

/* A block of the repetition behind `done` ones. */
static struct gt_block_record repeated(const struct gt_repeat_record *record, uint32_t block, uint64_t done)
{
    struct gt_block_record row = record->blocks[block];

    row.start_ps += (done + 1) * record->period_ps;
    row.end_ps += (done + 1) * record->period_ps;
    row.first_block += (done + 1) * record->period_blocks;
    return row;
}

/* Row by row while rows are kept, which is as long as it takes; the rest all at once. */
static int take_repeat(void *user, const struct gt_repeat_record *record, struct gt_error *error)
{
    struct gt_run_writer *writer = user;
    uint64_t done = 0;

    (void)error;
    for (; done < record->times && !writer->drop_blocks && writer->block_rows < BLOCK_ROWS_MAX; done++)
        for (uint32_t i = 0; i < record->block_records; i++)
            keep_block(writer, repeated(record, i, done));
    for (uint32_t i = 0; i < record->block_records && done < record->times; i++) {
        struct gt_block_record row = repeated(record, i, done);
        uint64_t times = record->times - done;

        writer->blocks_dropped += times * row.blocks;
        if (!writer->drop_blocks)
            gt_bins_add_repeated(writer->bins, &row, times, record->period_ps);
        if (writer->placement != NULL)
            gt_placement_add(writer->placement, &row, times);
    }
    return 0;
}

static int take_task(void *user, const struct gt_task_record *record, struct gt_error *error)
{
    struct gt_run_writer *writer = user;

    (void)error;
    if (writer->task_rows == TASK_ROWS_MAX) {
        writer->tasks_dropped++;
        return 0;
    }
    gt_array_grow(writer->tasks, writer->task_rows, writer->task_room);
    writer->tasks[writer->task_rows++] = *record;
    return 0;
}

static int take_progress(void *user, uint64_t done, uint64_t total, struct gt_error *error)
{
    struct gt_run_writer *writer = user;

    (void)error;
    if (writer->progress != NULL)
        writer->progress(writer->progress_user, done, total);
    return 0;
}

struct gt_run_writer *gt_run_writer_begin(struct gt_store *store, int64_t trace_id, int64_t device_id,
                                          const char *kind, const char *options, uint32_t repetition,
                                          const struct gt_workload *workload)
{
    struct gt_run_writer *writer = gt_calloc(1, sizeof *writer);

    *writer = (struct gt_run_writer){
        .store = store,
        .workload = workload,
        .progress = store->progress,
        .progress_user = store->progress_user,
        .trace_id = trace_id,
        .device_id = device_id,
        .kind = kind,
        .options = strdup(options),
        .repetition = repetition,
        .measured = strcmp(kind, "measured") == 0,
        .probe = { .user = writer,
                   .call = take_call,
                   .op = take_op,
                   .blocks = take_blocks,
                   .repeat = take_repeat,
                   .task = take_task,
                   .progress = take_progress },
        .bins = gt_bins_new(),
        .calls = gt_realloc(NULL, workload->call_count, sizeof *writer->calls),
        .ops = gt_realloc(NULL, workload->op_count, sizeof *writer->ops),
    };
    for (uint32_t i = 0; i < workload->call_count; i++)
        writer->calls[i].call = GT_NONE;
    for (uint32_t i = 0; i < workload->op_count; i++)
        writer->ops[i].op = GT_NONE;
    return writer;
}

void gt_run_writer_keep_placement(struct gt_run_writer *writer, bool blocks_too)
{
    writer->placement = gt_placement_new(writer->workload->op_count);
    writer->drop_blocks = !blocks_too;
}

void gt_run_writer_keep_kernels(struct gt_run_writer *writer, const struct gt_kernel_model *modelled)
{
    writer->kernels = true;
    writer->modelled = modelled;
}

void gt_run_writer_ranges_as(struct gt_run_writer *writer, const struct gt_workload *recorded)
{
    writer->ranges_of = recorded;
}

void gt_run_writer_await(struct gt_run_writer *writer)
{
    writer->awaits = true;
}

void gt_run_writer_belongs(struct gt_run_writer *writer, int64_t trace_id, int64_t device_id)
{
    writer->trace_id = trace_id;
    writer->device_id = device_id;
}

const struct gt_probe *gt_run_writer_probe(struct gt_run_writer *writer)
{
    return &writer->probe;
}

int gt_run_writer_counter(struct gt_run_writer *writer, const char *name, double value, struct gt_error *error)
{
    (void)error;
    writer->counters = gt_realloc(writer->counters, writer->counter_count + 1ull, sizeof *writer->counters);
    writer->counters[writer->counter_count++] = (struct counter){ strdup(name), value };
    return 0;
}

void gt_run_writer_free(struct gt_run_writer *writer)
{
    if (writer == NULL)
        return;
    for (uint32_t i = 0; i < writer->counter_count; i++)
        free(writer->counters[i].name);
    free(writer->counters);
    gt_bins_free(writer->bins);
    gt_placement_free(writer->placement);
    free(writer->blocks);
    free(writer->tasks);
    free(writer->calls);
    free(writer->ops);
    free(writer->options);
    free(writer);
}

/* The writing of one run: where it is, and what it fills. */
struct writing {
    struct gt_run_writer *writer;
    struct gt_store *store;
    sqlite3_stmt *insert;
    int64_t run_id;
    uint64_t done, total; /* rows */
    struct gt_error *error;
};

static int step(struct writing *writing)
{
    gt_store_tell(writing->store, writing->done++, writing->total);
    return gt_store_step(writing->store, writing->insert, writing->error);
}

static int insert_records(struct writing *writing, struct gt_row_source source)
{
    source.id = writing->run_id;
    source.user = writing->writer;
    return gt_store_insert(writing->store, &source, &writing->done, writing->total, writing->error);
}

static bool holds_call(const void *user, uint64_t row)
{
    return ((const struct gt_run_writer *)user)->calls[row].call != GT_NONE;
}

static void call_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_call_record *record = &((const struct gt_run_writer *)user)->calls[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: gt_result_time(result, record->start_ps); return;
    case 3: gt_result_time(result, record->end_ps); return;
    case 4: gt_result_time(result, record->blocked_ps); return;
    default: gt_result_index(result, record->cause_op); return;
    }
}

static int write_calls(struct writing *writing)
{
    return insert_records(writing, (struct gt_row_source){ .table = "run_call",
                                                           .columns = 6,
                                                           .count = writing->writer->workload->call_count,
                                                           .holds = holds_call,
                                                           .value = call_value });
}

static bool holds_op(const void *user, uint64_t row)
{
    return ((const struct gt_run_writer *)user)->ops[row].op != GT_NONE;
}

/* Of a measured run nobody knows what operations waited for. */
static void op_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_run_writer *writer = user;
    const struct gt_op_record *record = &writer->ops[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, (int64_t)row); return;
    case 2: gt_result_time(result, record->submit_ps); return;
    case 3: gt_result_time(result, record->start_ps); return;
    case 4: gt_result_time(result, record->end_ps); return;
    default: break;
    }
    if (writer->measured)
        return;
    if (column < 5 + GT_WAITS)
        gt_result_time(result, record->wait_ps[column - 5]);
    else if (record->cause == (column == 5 + GT_WAITS ? GT_CAUSE_CALL : GT_CAUSE_OP))
        gt_result_index(result, record->cause_index);
}

static int write_ops(struct writing *writing)
{
    return insert_records(writing, (struct gt_row_source){ .table = "run_op",
                                                           .columns = 7 + GT_WAITS,
                                                           .count = writing->writer->workload->op_count,
                                                           .holds = holds_op,
                                                           .value = op_value });
}

static int compare_blocks(const void *left, const void *right)
{
    const struct gt_block_record *a = left, *b = right;

    GT_ORDER(a->op, b->op);
    GT_ORDER(a->first_block, b->first_block);
    GT_ORDER(a->sm, b->sm);
    return 0;
}

static void block_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_block_record *record = &((const struct gt_run_writer *)user)->blocks[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, record->op); return;
    case 2: sqlite3_result_int64(result, record->gpu); return;
    case 3: sqlite3_result_int64(result, record->sm); return;
    case 4: gt_result_time(result, record->first_block); return;
    case 5: sqlite3_result_int64(result, record->blocks); return;
    case 6: gt_result_time(result, record->start_ps); return;
    default: gt_result_time(result, record->end_ps); return;
    }
}

static int write_blocks(struct writing *writing)
{
    struct gt_run_writer *writer = writing->writer;

    if (writer->block_rows > 0)
        qsort(writer->blocks, writer->block_rows, sizeof *writer->blocks, compare_blocks);
    return insert_records(
        writing, (struct gt_row_source){
                     .table = "run_block", .columns = 8, .count = writer->block_rows, .value = block_value });
}

static int write_placement(struct writing *writing)
{
    const struct gt_run_writer *writer = writing->writer;
    int result = 0;

    for (uint32_t i = 0; writer->placement != NULL && i < writer->workload->op_count && result == 0; i++) {
        uint32_t gpu;
        char *text = gt_placement_text(writer->placement, i, &gpu);

        if (text == NULL)
            continue;
        sqlite3_bind_int64(writing->insert, 2, i);
        sqlite3_bind_int64(writing->insert, 3, gpu);
        sqlite3_bind_text(writing->insert, 4, text, -1, SQLITE_STATIC);
        result = step(writing);
        free(text);
    }
    return result;
}

static int write_bin(void *user, uint32_t gpu, uint32_t sm, uint32_t bin, int64_t warp_ps, int64_t block_ps)
{
    struct writing *writing = user;

    sqlite3_bind_int64(writing->insert, 2, gpu);
    sqlite3_bind_int64(writing->insert, 3, sm);
    sqlite3_bind_int64(writing->insert, 4, bin);
    sqlite3_bind_int64(writing->insert, 5, warp_ps);
    sqlite3_bind_int64(writing->insert, 6, block_ps);
    return step(writing);
}

static int write_bins(struct writing *writing)
{
    return gt_bins_each(writing->writer->bins, write_bin, writing);
}

static int write_counters(struct writing *writing)
{
    const struct gt_run_writer *writer = writing->writer;

    for (uint32_t i = 0; i < writer->counter_count; i++) {
        sqlite3_bind_text(writing->insert, 2, writer->counters[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_double(writing->insert, 3, writer->counters[i].value);
        if (step(writing) != 0)
            return -1;
    }
    return 0;
}

static const struct table {
    const char *insert; /* place 1 is the run */
    int (*write)(struct writing *writing);
} tables[] = {
    { "INSERT INTO run_placement VALUES (?, ?, ?, ?)", write_placement },
    { "INSERT INTO run_bin VALUES (?, ?, ?, ?, ?, ?)", write_bins },
    { "INSERT OR REPLACE INTO counter VALUES (?, ?, ?)", write_counters },
};

/* Runs of this trace that waited for this one. */
static int complete_awaiting(struct gt_run_writer *writer, struct gt_error *error)
{
    char sql[96];

    snprintf(sql, sizeof sql, "UPDATE run SET whole = 1 WHERE trace_id = %" PRId64 " AND whole = 0",
             writer->trace_id);
    return gt_database_run(&writer->store->base, sql, error);
}

static int64_t write_run(struct gt_run_writer *writer, struct gt_error *error)
{
    struct writing writing = { .writer = writer,
                               .store = writer->store,
                               .error = error,
                               .total = writer->call_rows + writer->op_rows + writer->block_rows };
    int result = 0;

    writing.run_id = gt_store_put_run(writer->store, writer->trace_id, writer->device_id, writer->kind,
                                      writer->options, writer->repetition, !writer->awaits, error);
    if (writing.run_id < 0 || (!writer->awaits && complete_awaiting(writer, error) != 0))
        return -1;
    if (write_calls(&writing) != 0 || write_ops(&writing) != 0 || write_blocks(&writing) != 0)
        return -1;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && result == 0; i++) {
        writing.insert = gt_store_prepare(writer->store, tables[i].insert, error);
        if (writing.insert == NULL)
            return -1;
        sqlite3_bind_int64(writing.insert, 1, writing.run_id);
        result = tables[i].write(&writing);
        sqlite3_finalize(writing.insert);
    }
    if (result == 0)
        result = gt_store_run_ranges(writer->store, writing.run_id,
                                     gt_store_ranges_of(writer->workload, writer->ranges_of), writer->calls, error);
    if (result == 0)
        result = gt_store_run_polls(writer->store, writing.run_id, writer->workload, writer->calls, error);
    if (result == 0)
        result = gt_store_run_tasks(writer->store, writing.run_id, writer->tasks, writer->task_rows, error);
    if (result == 0 && writer->kernels)
        result = gt_store_run_kernels(writer->store, writing.run_id, writer->workload, writer->modelled, error);
    return result == 0 ? writing.run_id : -1;
}

int64_t gt_run_writer_end(struct gt_run_writer *writer, struct gt_error *error)
{
    int64_t run_id = -1;

    gt_run_writer_counter(writer, "blocks_dropped", (double)writer->blocks_dropped, NULL);
    if (writer->tasks_dropped > 0)
        gt_run_writer_counter(writer, "tasks_dropped", (double)writer->tasks_dropped, NULL);
    gt_run_writer_counter(writer, "bin_ps", (double)gt_bins_width_ps(writer->bins), NULL);
    if (gt_store_begin(writer->store, error) == 0) {
        run_id = write_run(writer, error);
        if (gt_store_finish(writer->store, run_id < 0 ? -1 : 0, error) != 0)
            run_id = -1;
    }
    gt_run_writer_free(writer);
    return run_id;
}
