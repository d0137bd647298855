#include "traces/explain/launch_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "traces/explain/host_time.h"
#include "traces/explain/part.h"

enum { NAME_BYTES = 160 };

struct key { /* of a node: below which, and what */
    UT_hash_handle hh;
    char *text;
    uint32_t node;
};

struct growing {
    const struct gt_loaded_run *t;
    struct gt_launch_tree *tree;
    uint32_t *node_of; /* by range; GT_NONE: none, as steps are */
    struct key *keys;
    size_t room, name_room;
};

static uint32_t node_below(struct growing *g, uint32_t parent, const char *kind, const char *name)
{
    struct gt_launch_tree *tree = g->tree;
    char *text = gt_format("%u %s %s", parent, kind, name);
    struct key *key;

    HASH_FIND(hh, g->keys, text, strlen(text), key);
    if (key != NULL) {
        free(text);
        return key->node;
    }
    gt_array_grow(tree->nodes, tree->count, g->room);
    tree->nodes[tree->count] = (struct gt_launch_node){
        .name = name, .kind = kind, .parent = parent, .depth = parent == GT_NONE ? 0 : tree->nodes[parent].depth + 1
    };
    key = gt_calloc(1, sizeof *key);
    key->text = text;
    key->node = (uint32_t)tree->count++;
    HASH_ADD_KEYPTR(hh, g->keys, key->text, strlen(key->text), key);
    return key->node;
}

/* Does a range begin in the part, where there is one? */
static bool is_in_part(const struct gt_loaded_run *t, const struct gt_loaded_range *range)
{
    return t->part.all || (range->start_ps >= t->part.from_ps && range->start_ps < t->part.to_ps &&
                           range->end_call >= t->part.first_call && range->first_call <= t->part.end_call);
}

/* A range stands behind the one that it is in. */
static void grow_ranges(struct growing *g)
{
    const struct gt_loaded_run *t = g->t;

    for (uint32_t i = 0; i < t->range_count; i++) {
        const struct gt_loaded_range *range = &t->ranges[i];
        uint32_t parent = range->parent == GT_NONE ? GT_NONE : g->node_of[range->parent];
        struct gt_launch_node *node;
        gt_time_ps host_ps = range->start_ps == GT_TIME_NONE ? 0 : range->end_ps - range->start_ps;

        g->node_of[i] = parent;
        if (range->step || range->kind >= GT_RANGE_KINDS || !is_in_part(t, range))
            continue;
        g->node_of[i] = node_below(g, parent, gt_range_kind_names[range->kind], range->name);
        node = &g->tree->nodes[g->node_of[i]];
        node->count++;
        node->host_ps += host_ps;
        node->self_ps += host_ps;
        if (parent != GT_NONE && range->nested) {
            node = &g->tree->nodes[parent];
            node->self_ps -= host_ps < node->self_ps ? host_ps : node->self_ps;
        }
    }
}

/* What an operation is called; a copy's name is the tree's to keep. */
static const char *name_of(struct growing *g, uint32_t index)
{
    const struct gt_loaded_op *op = &g->t->ops[index];
    struct gt_launch_tree *tree = g->tree;
    char name[NAME_BYTES];

    if (op->kind == GT_OP_KERNEL)
        return g->t->kernels[op->kernel].name;
    gt_loaded_op_name(g->t, index, name, sizeof name);
    for (size_t i = 0; i < tree->name_count; i++)
        if (strcmp(tree->names[i], name) == 0)
            return tree->names[i];
    gt_array_grow(tree->names, tree->name_count, g->name_room);
    tree->names[tree->name_count] = gt_strdup(name);
    return tree->names[tree->name_count++];
}

static void grow_operations(struct growing *g)
{
    const struct gt_loaded_run *t = g->t;

    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = &t->ops[t->by_start[i]];
        uint32_t range = t->calls[op->call].range, node;

        if (!gt_part_has_op(t, t->by_start[i]))
            continue;
        node = node_below(g, range == GT_NONE ? GT_NONE : g->node_of[range], gt_op_kind_names[op->kind],
                          name_of(g, t->by_start[i]));
        g->tree->nodes[node].count++;
        for (; node != GT_NONE; node = g->tree->nodes[node].parent) {
            g->tree->nodes[node].launches++;
            g->tree->nodes[node].gpu_ps += op->end_ps - op->start_ps;
        }
    }
}

static int by_gpu(const void *a, const void *b, void *user)
{
    const struct gt_launch_node *nodes = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct gt_launch_node *l = &nodes[left], *r = &nodes[right];

    if (l->gpu_ps != r->gpu_ps)
        return l->gpu_ps > r->gpu_ps ? -1 : 1;
    if (l->host_ps != r->host_ps)
        return l->host_ps > r->host_ps ? -1 : 1;
    return (left > right) - (left < right);
}

/* The nodes again, each before those below it, in the order of by_gpu(): `sorted` has them all in that order. */
static void order(struct gt_launch_tree *tree, const uint32_t *sorted)
{
    struct gt_launch_node *ordered = gt_calloc(tree->count + 1, sizeof *ordered);
    uint32_t *first = gt_realloc(NULL, tree->count + 1, sizeof *first); /* below a node; those of none last */
    uint32_t *next = gt_realloc(NULL, tree->count + 1, sizeof *next);   /* beside it */
    uint32_t *stack = gt_realloc(NULL, 2 * (tree->count + 1), sizeof *stack),
             *place = gt_calloc(tree->count + 1, sizeof *place);
    size_t open = 0, count = 0;

    memset(first, 0xff, (tree->count + 1) * sizeof *first); /* GT_NONE */
    for (size_t i = tree->count; i-- > 0;) {
        uint32_t node = sorted[i],
                 above = tree->nodes[node].parent == GT_NONE ? (uint32_t)tree->count : tree->nodes[node].parent;

        next[node] = first[above];
        first[above] = node;
    }
    stack[open++] = first[tree->count];
    while (open > 0) {
        uint32_t node = stack[--open];

        if (node == GT_NONE)
            continue;
        place[node] = (uint32_t)count;
        ordered[count] = tree->nodes[node];
        if (ordered[count].parent != GT_NONE)
            ordered[count].parent = place[ordered[count].parent];
        count++;
        stack[open++] = next[node];
        stack[open++] = first[node];
    }
    free(tree->nodes);
    tree->nodes = ordered;
    free(first);
    free(next);
    free(stack);
    free(place);
}

static uint32_t *sort_nodes(const struct gt_launch_tree *tree)
{
    uint32_t *sorted = gt_realloc(NULL, tree->count + 1, sizeof *sorted);

    for (size_t i = 0; i < tree->count; i++)
        sorted[i] = (uint32_t)i;
    if (tree->count > 0)
        qsort_r(sorted, tree->count, sizeof *sorted, by_gpu, tree->nodes);
    return sorted;
}

void gt_launch_tree_find(const struct gt_loaded_run *t, struct gt_launch_tree *tree)
{
    struct growing g = { .t = t, .tree = tree };
    struct key *key, *next;
    uint32_t *sorted;

    *tree = (struct gt_launch_tree){ .nodes = NULL };
    g.node_of = gt_calloc(t->range_count + 1ull, sizeof *g.node_of);
    grow_ranges(&g);
    grow_operations(&g);
    sorted = sort_nodes(tree);
    order(tree, sorted);
    free(sorted);
    HASH_ITER(hh, g.keys, key, next)
    {
        HASH_DEL(g.keys, key);
        free(key->text);
        free(key);
    }
    free(g.node_of);
}

void gt_launch_tree_free(struct gt_launch_tree *tree)
{
    for (size_t i = 0; i < tree->name_count; i++)
        free(tree->names[i]);
    free(tree->names);
    free(tree->nodes);
    *tree = (struct gt_launch_tree){ .nodes = NULL };
}

/* A node stands before those below it, which have no more than it has: the first of equal ones comes first. */
bool *gt_launch_tree_largest(const struct gt_launch_tree *tree, size_t most)
{
    bool *shown = gt_calloc(tree->count + 1, sizeof *shown);
    uint32_t *sorted = sort_nodes(tree);

    for (size_t i = 0; i < tree->count && i < most; i++)
        shown[sorted[i]] = true;
    free(sorted);
    return shown;
}
