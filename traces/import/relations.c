/* relations.c - which operations come after which, and what they read and write, in the workload's numbers. */
#include "sim/base/sort.h"
#include "traces/import/internal.h"

#include <stdlib.h>

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
