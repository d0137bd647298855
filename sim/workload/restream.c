/* --streams: deal the work over another number of streams. */
#include "sim/workload/restream.h"

#include <stdlib.h>

/* The streams of one context that the dealing goes over, and whose turn it is. */
struct table {
    gt_gpu_index gpu;
    uint32_t context;
    uint32_t *streams, count; /* used in the trace */
    uint32_t *targets;        /* dealt over */
    uint32_t turn;
    bool fold;
};

struct deal {
    struct gt_workload *w;
    struct table *tables;
    uint32_t table_count, streams;
    uint32_t *table_of, *place; /* per stream of the trace: its table, its place among the used */
    uint32_t *target;           /* per stream of the trace: where its current chain goes */
    bool *has_uploads, *used, *begun;
};

static uint32_t table_for(struct deal *deal, const struct gt_stream *stream)
{
    for (uint32_t i = 0; i < deal->table_count; i++) {
        if (deal->tables[i].gpu == stream->gpu && deal->tables[i].context == stream->context)
            return i;
    }
    deal->tables = gt_realloc(deal->tables, deal->table_count + 1ull, sizeof *deal->tables);
    deal->tables[deal->table_count] = (struct table){ .gpu = stream->gpu, .context = stream->context };
    return deal->table_count++;
}

static void survey(struct deal *deal)
{
    const struct gt_workload *w = deal->w;

    for (uint32_t i = 0; i < w->op_count; i++) {
        deal->used[w->ops[i].stream] = true;
        if (w->ops[i].kind == GT_OP_COPY && w->ops[i].direction == GT_H2D)
            deal->has_uploads[w->ops[i].stream] = true;
    }
    for (uint32_t i = 0; i < w->stream_count; i++) {
        struct table *table;

        deal->table_of[i] = table_for(deal, &w->streams[i]);
        deal->target[i] = i;
        if (!deal->used[i])
            continue;
        table = &deal->tables[deal->table_of[i]];
        deal->place[i] = table->count;
        table->streams = gt_realloc(table->streams, table->count + 1ull, sizeof *table->streams);
        table->streams[table->count++] = i;
    }
}

/* A context's own streams first, then new non-blocking ones like its first. */
static void choose_targets(struct deal *deal, struct table *table)
{
    table->targets = gt_calloc(deal->streams, sizeof *table->targets);
    table->fold = deal->streams <= table->count;
    for (uint32_t i = 0; i < deal->streams && table->count > 0; i++) {
        struct gt_stream like = deal->w->streams[table->streams[0]];

        if (i < table->count) {
            table->targets[i] = table->streams[i];
            continue;
        }
        table->targets[i] = gt_workload_add_stream(deal->w);
        like.id = UINT64_C(1000000) + i; /* clear of the numbers that traces use */
        like.name = GT_NONE;
        like.flags = GT_STREAM_NON_BLOCKING;
        deal->w->streams[table->targets[i]] = like;
    }
}

static bool begins_chain(const struct deal *deal, const struct gt_op *op)
{
    if (!deal->begun[op->stream] || !deal->has_uploads[op->stream])
        return true;
    return op->kind == GT_OP_COPY && op->direction == GT_H2D;
}

static uint32_t target_of(struct deal *deal, const struct gt_op *op, bool first_of_call)
{
    struct table *table = &deal->tables[deal->table_of[op->stream]];

    if (table->fold) {
        deal->target[op->stream] = table->targets[deal->place[op->stream] % deal->streams];
    } else if (first_of_call && begins_chain(deal, op)) {
        deal->target[op->stream] = table->targets[table->turn++ % deal->streams];
        deal->begun[op->stream] = true;
    }
    return deal->target[op->stream];
}

/* Once dealt, one stream's work is on several: waiting for it means waiting for all. */
static void deal_call(struct deal *deal, struct gt_call *call)
{
    gt_stream_index stream = call->stream;

    for (uint32_t i = 0; i < call->ops; i++) {
        struct gt_op *op = &deal->w->ops[call->first_op + i];

        op->stream = target_of(deal, op, i == 0);
    }
    if (stream == GT_NONE)
        return;
    if (call->kind == GT_CALL_STREAM_SYNC && deal->used[stream] && !deal->tables[deal->table_of[stream]].fold)
        call->kind = GT_CALL_DEVICE_SYNC;
    call->stream = deal->target[stream];
}

struct gt_workload *gt_transform_streams(const struct gt_workload *workload, uint32_t streams)
{
    uint32_t before = workload->stream_count;
    /* clang-format off */
    struct deal deal = {
        .w = gt_workload_copy(workload), .streams = streams,
        .table_of = gt_calloc(before, sizeof(uint32_t)), .place = gt_calloc(before, sizeof(uint32_t)),
        .target = gt_calloc(before, sizeof(uint32_t)), .has_uploads = gt_calloc(before, sizeof(bool)),
        .used = gt_calloc(before, sizeof(bool)), .begun = gt_calloc(before, sizeof(bool)),
    };
    /* clang-format on */

    survey(&deal);
    for (uint32_t i = 0; i < deal.table_count; i++)
        choose_targets(&deal, &deal.tables[i]);
    for (uint32_t i = 0; i < deal.w->stream_count && i < before; i++) {
        struct table *table = &deal.tables[deal.table_of[i]];

        if (deal.used[i] && table->fold)
            deal.target[i] = table->targets[deal.place[i] % streams];
    }
    for (uint32_t i = 0; i < deal.w->call_count; i++)
        deal_call(&deal, &deal.w->calls[i]);
    for (uint32_t i = 0; i < deal.table_count; i++) {
        free(deal.tables[i].streams);
        free(deal.tables[i].targets);
    }
    free(deal.tables);
    free(deal.table_of);
    free(deal.place);
    free(deal.target);
    free(deal.has_uploads);
    free(deal.used);
    free(deal.begun);
    return deal.w;
}
