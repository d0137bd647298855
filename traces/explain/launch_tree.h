/* launch_tree.h - which operators, by how they nest, launch which kernels, copies and memsets. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LAUNCH_TREE_H
#define GRIDTIDE_TRACES_EXPLAIN_LAUNCH_TREE_H

#include "traces/explain/loaded_run.h"

/* All ranges of a kind and name within the same node, or all operations of a name that they launched themselves. */
struct gt_launch_node {
    const char *name; /* the run's, or the tree's */
    const char *kind; /* "operator", "annotation", ...; of operations "kernel", "copy", "memset" */
    uint32_t parent;  /* in nodes; GT_NONE: none */
    uint32_t depth;
    uint64_t count;              /* ranges; launches */
    uint64_t launches;           /* within, of the nodes below too */
    gt_time_ps gpu_ps;           /* of what it launched, by itself and below */
    gt_time_ps host_ps, self_ps; /* of its ranges; without those within them.  0 of operations */
};

struct gt_launch_tree {
    struct gt_launch_node *nodes; /* a node before what is below it; of one node those with most GPU time first */
    size_t count;
    char **names; /* of copies */
    size_t name_count;
};

/* Of the run, or of what is in its part.  gt_launch_tree_free() ends it. */
void gt_launch_tree_find(const struct gt_loaded_run *run, struct gt_launch_tree *tree);
void gt_launch_tree_free(struct gt_launch_tree *tree);

/* Which nodes to show where no more than `most` are: those with the most GPU time, and so with all that they are in.
 * Malloced, by node. */
bool *gt_launch_tree_largest(const struct gt_launch_tree *tree, size_t most);

#endif
