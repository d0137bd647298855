#include "traces/compare/kernel_kin.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "traces/store/query.h"

/* A kernel that a block launched. */
struct child {
    int64_t op, parent, block, rule, nth;
    uint32_t depth; /* 1: its parent was launched by the host */
    int64_t kin;    /* the first kernel that is like it but for blocks: its own number or a smaller one */
};

/* Two kinds of kernels, how many grids they have in common, and whether one block made both launches of that depth. */
struct relation {
    int64_t kin[2];
    uint32_t depth;
    bool same_block;
    signed char sign;
    bool used;
};

struct gt_kin {
    struct child *children; /* by rising number */
    uint64_t count, room;
    struct relation *relations; /* a table by hash, at most half full */
    uint64_t relation_count, relation_room;
};

static const struct child *find(const struct gt_kin *kin, int64_t op)
{
    uint64_t low = 0, high = kin->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (kin->children[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kin->count && kin->children[low].op == op ? &kin->children[low] : NULL;
}

static int64_t kin_of(const struct gt_kin *kin, int64_t op)
{
    const struct child *child = find(kin, op);

    return child != NULL ? child->kin : op;
}

/* By what kernels are alike, then by number. */
static int by_likeness(const void *left, const void *right)
{
    const struct child *a = left, *b = right;

    if (a->kin != b->kin) /* of the parent, here */
        return a->kin < b->kin ? -1 : 1;
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    if (a->nth != b->nth)
        return a->nth < b->nth ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* Kernels of one depth, whose parents know their kin. */
static void find_kin(struct gt_kin *kin, uint32_t depth)
{
    struct child *of_depth = gt_realloc(NULL, kin->count, sizeof *of_depth);
    uint64_t count = 0;

    for (uint64_t i = 0; i < kin->count; i++)
        if (kin->children[i].depth == depth) {
            of_depth[count] = kin->children[i];
            of_depth[count++].kin = kin_of(kin, kin->children[i].parent);
        }
    qsort(of_depth, count, sizeof *of_depth, by_likeness);
    for (uint64_t i = 0, first = 0; i < count; i++) {
        if (of_depth[i].kin != of_depth[first].kin || of_depth[i].rule != of_depth[first].rule ||
            of_depth[i].nth != of_depth[first].nth)
            first = i;
        kin->children[find(kin, of_depth[i].op) - kin->children].kin = of_depth[first].op;
    }
    free(of_depth);
}

static int read_children(struct gt_query *query, struct gt_kin *kin, uint32_t *deepest, struct gt_error *error)
{
    int row;

    while ((row = gt_query_next(query, error)) == 1) {
        struct child child = { .op = gt_query_integer(query, 0),
                               .parent = gt_query_integer(query, 1),
                               .block = gt_query_integer(query, 2),
                               .rule = gt_query_integer(query, 3),
                               .nth = gt_query_integer(query, 4) };
        const struct child *parent = find(kin, child.parent);

        if (child.parent >= child.op)
            return gt_error_set(error, "child_launch: operation %lld is launched by %lld, which comes after it",
                                (long long)child.op, (long long)child.parent);
        child.depth = parent != NULL ? parent->depth + 1 : 1;
        child.kin = child.op;
        *deepest = child.depth > *deepest ? child.depth : *deepest;
        gt_array_grow(kin->children, kin->count, kin->room);
        kin->children[kin->count++] = child;
    }
    return row;
}

int gt_kin_read(struct gt_store *store, int64_t simulated_run, struct gt_kin **kin, struct gt_error *error)
{
    static const char sql[] = "SELECT op_no, parent_no, block_no, rule_no, nth FROM child_launch"
                              " WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?) ORDER BY op_no";
    struct gt_database *database = gt_store_database(store);
    struct gt_query *query;
    uint32_t deepest = 0;
    int64_t version = 0;
    int result;

    *kin = NULL;
    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    if (version < GT_STORE_WITH_CHILDREN)
        return 0;
    query = gt_query_new(database, sql, error);
    if (query == NULL)
        return -1;
    *kin = gt_calloc(1, sizeof **kin);
    gt_query_bind(query, 1, simulated_run);
    result = read_children(query, *kin, &deepest, error);
    gt_query_end(query);
    for (uint32_t depth = 1; depth <= deepest && result == 0; depth++)
        find_kin(*kin, depth);
    if (result == 0 && (*kin)->count > 0)
        return 0;
    gt_kin_free(*kin);
    *kin = NULL;
    return result;
}

void gt_kin_free(struct gt_kin *kin)
{
    if (kin == NULL)
        return;
    free(kin->children);
    free(kin->relations);
    free(kin);
}

static uint64_t hash_of(const struct relation *relation)
{
    uint64_t hash = (uint64_t)relation->kin[0] * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 29 ^ (uint64_t)relation->kin[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ (relation->depth * 2 + relation->same_block)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

static bool same(const struct relation *a, const struct relation *b)
{
    return a->kin[0] == b->kin[0] && a->kin[1] == b->kin[1] && a->depth == b->depth && a->same_block == b->same_block;
}

/* Its place in the table, or the free one that it may have. */
static struct relation *place_of(const struct gt_kin *kin, const struct relation *relation)
{
    uint64_t at = hash_of(relation) & (kin->relation_room - 1);

    while (kin->relations[at].used && !same(&kin->relations[at], relation))
        at = (at + 1) & (kin->relation_room - 1);
    return &kin->relations[at];
}

static void make_room(struct gt_kin *kin)
{
    struct relation *before = kin->relations;
    uint64_t room = kin->relation_room;

    if (2 * (kin->relation_count + 1) <= room)
        return;
    kin->relation_room = room > 0 ? 2 * room : 1024;
    kin->relations = gt_calloc(kin->relation_room, sizeof *kin->relations);
    for (uint64_t i = 0; i < room; i++)
        if (before[i].used)
            *place_of(kin, &before[i]) = before[i];
    free(before);
}

/* Where the lines of two kernels part: the launches of the same grid, or by the host, that they go back to. */
static struct relation relate(const struct gt_kin *kin, int64_t left_op, int64_t right_op)
{
    const struct child *left = find(kin, left_op), *right = find(kin, right_op);
    struct relation relation = { .kin = { kin_of(kin, left_op), kin_of(kin, right_op) }, .sign = GT_KIN_NEW };

    relation.used = true;
    while (left != NULL && right != NULL && left->parent != right->parent) {
        if (left->depth >= right->depth)
            left = find(kin, (left_op = left->parent));
        else
            right = find(kin, (right_op = right->parent));
    }
    if (left != NULL && right != NULL) {
        relation.depth = left->depth;
        relation.same_block = left->block == right->block;
    } else if (left_op == right_op) { /* the host's launch that both go back to, or one of the two */
        relation.depth = 0;
        relation.same_block = true;
    }
    return relation;
}

signed char *gt_kin_of_pair(struct gt_kin *kin, int64_t left_op, int64_t right_op, bool *swapped)
{
    struct relation relation = relate(kin, left_op, right_op), *place;

    if (relation.kin[0] == relation.kin[1])
        return NULL;
    *swapped = relation.kin[0] > relation.kin[1];
    if (*swapped) {
        int64_t first = relation.kin[0];

        relation.kin[0] = relation.kin[1];
        relation.kin[1] = first;
    }
    make_room(kin);
    place = place_of(kin, &relation);
    if (!place->used) {
        *place = relation;
        kin->relation_count++;
    }
    return &place->sign;
}
