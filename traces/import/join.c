/* join.c - which call an operation, a target, a nested call belongs to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/import/internal.h"

const enum gt_call_kind gt_call_kind_of_op[GT_OP_KINDS] = {
    [GT_OP_KERNEL] = GT_CALL_LAUNCH,
    [GT_OP_COPY] = GT_CALL_COPY,
    [GT_OP_MEMSET] = GT_CALL_MEMSET,
    [GT_OP_HOST_FUNCTION] = GT_CALL_HOST_FUNCTION,
};

uint32_t *gt_import_sorted(struct gt_import_finish *finish, uint32_t count,
                           int (*compare)(const void *, const void *, void *))
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);
    bool sorted = true;

    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = i;
        if (i > 0 && sorted)
            sorted = compare(&indexes[i - 1], &indexes[i], finish) <= 0;
    }
    if (!sorted)
        qsort_r(indexes, count, sizeof *indexes, compare, finish);
    return indexes;
}

static int compare_keys(const void *left, const void *right, void *user)
{
    const struct gt_import_finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(b->end_ns, a->end_ns);
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

int gt_import_compare_within_threads(const void *left, const void *right, void *user)
{
    const struct gt_import_finish *finish = user;
    const struct gt_import_call *a = &finish->import->calls[*(const uint32_t *)left];
    const struct gt_import_call *b = &finish->import->calls[*(const uint32_t *)right];

    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(b->end_ns, a->end_ns);
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

int gt_import_compare_ops(const void *left, const void *right, void *user)
{
    const struct gt_import_finish *finish = user;
    const struct gt_import_op *a = &finish->import->ops[*(const uint32_t *)left];
    const struct gt_import_op *b = &finish->import->ops[*(const uint32_t *)right];

    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

/* The gathered call of a key, the outermost one; GT_NONE when there is none. */
static uint32_t find_call(const struct gt_import_finish *finish, uint64_t process, uint32_t correlation)
{
    uint32_t low = 0, high = finish->keyed;

    if (correlation == GT_NO_CORRELATION)
        return GT_NONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_import_call *call = &finish->import->calls[finish->by_key[middle]];

        if (call->process < process || (call->process == process && call->correlation < correlation))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < finish->keyed) {
        const struct gt_import_call *call = &finish->import->calls[finish->by_key[low]];

        if (call->process == process && call->correlation == correlation)
            return finish->by_key[low];
    }
    return GT_NONE;
}

/* What the outer of two nested calls does not know itself, it learns from the inner one. */
static void learn(struct gt_import_call *call, uint32_t stream, uint32_t event)
{
    if (call->stream == GT_NONE)
        call->stream = stream;
    if (call->event == GT_NONE)
        call->event = event;
}

static void give_targets(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;

    for (uint32_t i = 0; i < import->target_count; i++) {
        const struct gt_import_target *target = &import->targets[i];
        uint32_t call = find_call(finish, target->process, target->correlation);

        if (call != GT_NONE)
            learn(&import->calls[call], target->stream, target->event);
    }
    free(import->targets);
    import->targets = NULL;
    import->target_count = import->target_room = 0;
}

static void drop_nested(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t *order = gt_import_sorted(finish, import->call_count, gt_import_compare_within_threads);
    uint32_t outer = GT_NONE;
    uint64_t cut = 0;

    finish->into = gt_realloc(NULL, import->call_count + 1ull, sizeof *finish->into);
    for (uint32_t i = 0; i < import->call_count; i++) {
        struct gt_import_call *call = &import->calls[order[i]];
        struct gt_import_call *around = outer == GT_NONE ? NULL : &import->calls[outer];

        finish->into[order[i]] = GT_NONE;
        if (around != NULL && around->thread == call->thread && call->start_ns < around->end_ns) {
            if (call->end_ns <= around->end_ns) {
                finish->into[order[i]] = outer;
                if (around->kind == GT_CALL_OTHER) {
                    around->kind = call->kind;
                    around->flags |= call->flags;
                }
                learn(around, call->stream, call->event);
                if (around->executable == GT_NONE)
                    around->executable = call->executable;
                continue;
            }
            around->end_ns = call->start_ns;
            cut++;
        }
        outer = order[i];
    }
    free(order);
    gt_import_warn(import->workload, "overlapping-calls", cut);
}

/* A thread that stands for the missing callers of a stream's operations. */
static void pseudo_thread(struct gt_import *import, uint32_t *threads, uint32_t stream)
{
    struct gt_workload *workload = import->workload;

    if (threads[stream] == GT_NONE) {
        const struct gt_stream *of = &workload->streams[stream];
        char name[96];
        int length = snprintf(name, sizeof name, "unseen caller of gpu %u context %u stream %llu",
                              workload->gpus[of->gpu].id, of->context, (unsigned long long)of->id);
        uint32_t thread = gt_workload_add_thread(workload);

        workload->threads[thread].id = stream;
        workload->threads[thread].name = gt_name(workload, name, (size_t)length);
        threads[stream] = thread;
    }
}

/* Join every operation to its call, made up where there is none. */
static void give_calls(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t streams = import->workload->stream_count;
    uint32_t *threads = gt_realloc(NULL, streams + 1ull, sizeof *threads);
    uint64_t missing = 0;

    memset(threads, 0xff, streams * sizeof *threads);
    for (uint32_t i = 0; i < import->op_count; i++) {
        struct gt_import_op *op = &import->ops[i];

        op->call = find_call(finish, op->process, op->correlation);
        if (op->call != GT_NONE && finish->into[op->call] != GT_NONE)
            op->call = finish->into[op->call];
        if (op->call == GT_NONE) {
            pseudo_thread(import, threads, op->stream);
            missing++;
        }
    }
    if (missing > 0)
        gt_import_infer_calls(finish, threads);
    free(threads);
    gt_import_warn(import->workload, "calls-missing", missing);
}

void gt_import_join(struct gt_import_finish *finish)
{
    finish->by_key = gt_import_sorted(finish, finish->import->call_count, compare_keys);
    finish->keyed = finish->import->call_count;
    give_targets(finish);
    drop_nested(finish);
    give_calls(finish);
    free(finish->by_key);
    finish->by_key = NULL;
}

/* Which operations come after which, and what they read and write, in the workload's numbers. */

static int compare_edges(const void *left, const void *right, void *user)
{
    const uint32_t *place = user;
    const struct gt_import_edge *a = left, *b = right;

    GT_ORDER(place[a->after], place[b->after]);
    GT_ORDER(place[a->before], place[b->before]);
    return 0;
}

static int compare_accesses(const void *left, const void *right, void *user)
{
    const uint32_t *place = user;
    const struct gt_import_access *a = left, *b = right;

    GT_ORDER(place[a->op], place[b->op]);
    GT_ORDER(a->access.writes, b->access.writes);
    GT_ORDER(a->access.possible, b->access.possible);
    GT_ORDER(a->access.buffer, b->access.buffer);
    GT_ORDER(a->access.offset, b->access.offset);
    GT_ORDER(a->access.bytes, b->access.bytes);
    return 0;
}

void gt_import_relations_begin(struct gt_import_relations *relations, struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    uint32_t next = 0;

    relations->edge = relations->access = 0;
    relations->place = gt_realloc(NULL, import->op_count + 1ull, sizeof *relations->place);
    for (uint32_t i = 0; i < finish->kept; i++) {
        uint32_t call = finish->order[i];

        for (uint32_t j = finish->first_op[call]; j < finish->first_op[call + 1]; j++)
            relations->place[finish->op_order[j]] = next++;
    }
    if (import->edge_count > 0)
        qsort_r(import->edges, import->edge_count, sizeof *import->edges, compare_edges, relations->place);
    if (import->access_count > 0)
        qsort_r(import->accesses, import->access_count, sizeof *import->accesses, compare_accesses, relations->place);
}

static bool is_repeated(const struct gt_import *import, const struct gt_import_relations *relations, uint32_t edge)
{
    return edge > 0 && import->edges[edge - 1].after == import->edges[edge].after &&
           relations->place[import->edges[edge - 1].before] == relations->place[import->edges[edge].before];
}

void gt_import_relations_write(struct gt_import_relations *relations, struct gt_import *import, uint32_t op)
{
    struct gt_workload *workload = import->workload;
    const uint32_t *place = relations->place;

    for (; relations->edge < import->edge_count && place[import->edges[relations->edge].after] == op;
         relations->edge++)
        if (!is_repeated(import, relations, relations->edge) && workload->ops[op].afters < UINT16_MAX)
            gt_workload_add_after(workload, op, place[import->edges[relations->edge].before]);
    for (; relations->access < import->access_count && place[import->accesses[relations->access].op] == op;
         relations->access++)
        if (workload->ops[op].accesses < UINT16_MAX)
            gt_workload_add_access(workload, op, &import->accesses[relations->access].access);
}

void gt_import_relations_end(struct gt_import_relations *relations)
{
    free(relations->place);
}
