/* Kernels' first starts, held against each other pair by pair. */
#include "traces/compare/kernel_order.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

/* Kernels that blocks launch, and which pairs of them are alike.
 *
 * Blocks that launch at one time do so in any order: which of them comes first is chance, and some of the pairs of their
 * kernels would seem to be in a certain order after two or three runs.  But pairs that differ only in the blocks that
 * launched them are alike: what is certain of one is so of all.
 */

enum { KIN_NEW = 2 };

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

struct kin {
    struct child *children; /* by rising number */
    uint64_t count, room;
    struct relation *relations; /* a table by hash, at most half full */
    uint64_t relation_count, relation_room;
};

static const struct child *find(const struct kin *kin, int64_t op)
{
    uint64_t low = GT_LOWER_BOUND(middle, 0, kin->count, kin->children[middle].op < op);
    return low < kin->count && kin->children[low].op == op ? &kin->children[low] : NULL;
}

static int64_t kin_of(const struct kin *kin, int64_t op)
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
static void find_kin(struct kin *kin, uint32_t depth)
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

static int read_children(struct gt_query *query, struct kin *kin, uint32_t *deepest, struct gt_error *error)
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

static void kin_free(struct kin *kin)
{
    if (kin == NULL)
        return;
    free(kin->children);
    free(kin->relations);
    free(kin);
}

/* What a trace knows of launches by blocks; *kin is NULL where there are none. Returns 0 (then kin_free), or -1. */
static int kin_read(struct gt_store *store, int64_t simulated_run, struct kin **kin, struct gt_error *error)
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
    kin_free(*kin);
    *kin = NULL;
    return result;
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
static struct relation *place_of(const struct kin *kin, const struct relation *relation)
{
    uint64_t at = hash_of(relation) & (kin->relation_room - 1);

    while (kin->relations[at].used && !same(&kin->relations[at], relation))
        at = (at + 1) & (kin->relation_room - 1);
    return &kin->relations[at];
}

static void make_room(struct kin *kin)
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
static struct relation relate(const struct kin *kin, int64_t left_op, int64_t right_op)
{
    const struct child *left = find(kin, left_op), *right = find(kin, right_op);
    struct relation relation = { .kin = { kin_of(kin, left_op), kin_of(kin, right_op) }, .sign = KIN_NEW };

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

/* What pairs like this one have shown so far, to be read and written: -1, 0, 1, or KIN_NEW.  *swapped: seen from
 * the other side. NULL: there is none like it, for nothing tells the two kernels apart but chance. */
static signed char *kin_of_pair(struct kin *kin, int64_t left_op, int64_t right_op, bool *swapped)
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

static const int64_t least_ps = 2000000;

/* Starts of the kernels that all runs have, in order of launch: runs[i] of kernel k at [k * runs + i], the
 * simulated one's last. */
struct starts {
    int64_t *start_ps, *ops; /* their operations */
    uint64_t kernels, room;
    uint32_t runs;
};

/* One run's starts: of the first run they make the list, of a later one they narrow it. */
static int read_run(struct gt_query *query, int64_t run, uint32_t place, struct starts *starts,
                    struct gt_error *error)
{
    uint64_t kept = 0, at = 0;
    int row;

    gt_query_bind(query, 1, run);
    while ((row = gt_query_next(query, error)) == 1) {
        int64_t op = gt_query_integer(query, 0);

        if (place == 0 && at == starts->room) {
            starts->room = starts->room * 2 + 64;
            starts->start_ps = gt_realloc(starts->start_ps, starts->room * starts->runs, sizeof *starts->start_ps);
            starts->ops = gt_realloc(starts->ops, starts->room, sizeof *starts->ops);
        }
        if (place == 0)
            starts->ops[starts->kernels++] = op;
        while (at < starts->kernels && starts->ops[at] < op)
            at++;
        if (at == starts->kernels || starts->ops[at] != op)
            continue;
        for (uint32_t i = 0; i < place; i++)
            starts->start_ps[kept * starts->runs + i] = starts->start_ps[at * starts->runs + i];
        starts->start_ps[kept * starts->runs + place] = gt_query_integer(query, 1);
        starts->ops[kept++] = op;
        at++;
    }
    starts->kernels = kept;
    gt_query_rewind(query);
    return row;
}

static int read_starts(struct gt_store *store, int64_t simulated_run, const int64_t *runs, struct starts *starts,
                       struct gt_error *error)
{
    static const char sql[] = "SELECT p.op_no, p.start_ps FROM run r JOIN run_op p ON p.run_id = r.run_id"
                              " JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no AND o.kind = 'kernel'"
                              " WHERE r.run_id = ? ORDER BY p.op_no";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int result = query == NULL ? -1 : 0;

    for (uint32_t i = 0; i < starts->runs && result == 0; i++)
        result = read_run(query, i + 1 < starts->runs ? runs[i] : simulated_run, i, starts, error);
    gt_query_end(query);
    return result;
}

/* How far apart two starts must be to be in any order at all. */
static int read_resolution(struct gt_store *store, const int64_t *runs, uint32_t count, int64_t *resolution_ps,
                           struct gt_error *error)
{
    static const char sql[] = "SELECT value FROM counter WHERE run_id = ? AND name = 'clock_residual_ps'";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int row = 0;

    *resolution_ps = least_ps;
    if (query == NULL)
        return -1;
    for (uint32_t i = 0; i < count && row >= 0; i++) {
        gt_query_bind(query, 1, runs[i]);
        row = gt_query_next(query, error);
        if (row == 1 && gt_query_integer(query, 0) > *resolution_ps)
            *resolution_ps = gt_query_integer(query, 0);
        gt_query_rewind(query);
    }
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

/* 1 where the left one starts first in every measured run, -1 where the right one does, 0 where neither. */
static int certain(const int64_t *left, const int64_t *right, uint32_t runs, int64_t resolution_ps)
{
    int sign = left[0] < right[0] ? 1 : -1;

    for (uint32_t i = 0; i < runs; i++)
        if (sign * (right[i] - left[i]) <= resolution_ps)
            return 0;
    return sign;
}

/* What is certain of a pair is so of all that are like it: `note` it first, of all pairs, then ask. */
static int certain_of_all(struct kin *kin, int64_t left_op, int64_t right_op, int sign, bool note)
{
    bool swapped = false;
    signed char *known;

    if (kin == NULL)
        return sign;
    known = kin_of_pair(kin, left_op, right_op, &swapped);
    if (known == NULL)
        return 0;
    if (note)
        *known = (signed char)(*known == KIN_NEW || *known == (swapped ? -sign : sign) ? swapped ? -sign : sign : 0);
    return swapped ? -*known : *known;
}

static void count_pairs(const struct starts *starts, int64_t resolution_ps, struct kin *kin, bool note,
                        struct gt_order *order)
{
    uint32_t measured = starts->runs - 1;

    *order = (struct gt_order){ 0, 0 };
    for (uint64_t i = 0; i < starts->kernels; i++) {
        const int64_t *left = starts->start_ps + i * starts->runs;

        for (uint64_t j = i + 1; j < starts->kernels && j <= i + GT_ORDER_REACH; j++) {
            const int64_t *right = starts->start_ps + j * starts->runs;
            int sign = certain(left, right, measured, resolution_ps);

            sign = certain_of_all(kin, starts->ops[i], starts->ops[j], sign, note);
            order->pairs += sign != 0;
            order->wrong += sign != 0 && sign * (right[measured] - left[measured]) <= 0;
        }
    }
}

int gt_order_of(struct gt_store *store, int64_t simulated_run, const int64_t *runs, uint32_t count,
                struct gt_order *order, struct gt_error *error)
{
    struct starts starts = { .runs = count + 1 };
    struct kin *kin = NULL;
    int64_t resolution_ps;
    int result;

    *order = (struct gt_order){ NAN, NAN };
    if (count < 2)
        return 0;
    result = read_resolution(store, runs, count, &resolution_ps, error);
    if (result == 0)
        result = read_starts(store, simulated_run, runs, &starts, error);
    if (result == 0)
        result = kin_read(store, simulated_run, &kin, error);
    if (result == 0 && kin != NULL)
        count_pairs(&starts, resolution_ps, kin, true, order);
    if (result == 0)
        count_pairs(&starts, resolution_ps, kin, false, order);
    kin_free(kin);
    free(starts.start_ps);
    free(starts.ops);
    return result;
}
