/* control_flow.h - from instructions with counts to basic blocks, edges and loops of a program.
 *
 * The parts work on one struct in this order: gt_build_blocks(), gt_build_counts() with
 * gt_build_polls(), gt_build_loops(), gt_build_regions(), gt_build_roles().  gt_program_build() (basic_blocks.c)
 * calls them.
 */
#ifndef GRIDTIDE_TRACES_SASS_CONTROL_FLOW_H
#define GRIDTIDE_TRACES_SASS_CONTROL_FLOW_H

#include "sim/workload/program.h"
#include "sim/workload/workload.h"
#include "traces/sass/sass.h"

/* How well counts and flow agree. */
struct gt_flow_report {
    double imbalance; /* warp instructions that the flow cannot explain, as a share of all */
    uint32_t worst;   /* instruction where most of them are; GT_NONE */
    uint64_t arrive;  /* what the flow brings there ... */
    uint64_t counted; /* ... and what the profiler counted */
};

enum { GT_FLOW_LIMIT_PERMILLE = 5 }; /* more than this is worth a warning */

/* Several times what compilers make.  Work grows with the square of blocks and with how deep loops nest. */
enum { GT_FLOW_MOST_BLOCKS = 8192, GT_FLOW_MOST_EDGES = 8 * GT_FLOW_MOST_BLOCKS, GT_FLOW_MOST_DEPTH = 64 };

struct gt_build {
    struct gt_program *program;
    const struct gt_sass_flow *flows; /* one an instruction; target: an instruction's index */
    const uint64_t *divergent;        /* one an instruction: how often a branch split its warp; NULL: not counted */
    uint32_t *block_of;               /* instruction -> basic block */
    bool *known;                      /* edge -> its count is settled */
    uint32_t *edge_from;              /* edge -> basic block */
    uint32_t *in_first, *in;          /* edges into block b: in[in_first[b]] .. in[in_first[b + 1] - 1] */
    uint32_t edge_room;
    uint32_t *dominator;        /* block -> immediate dominator, GT_NONE: a root or never reached */
    uint32_t *order, *position; /* blocks in reverse postorder; block -> place in `order`, GT_NONE */
    uint32_t ordered;
    uint8_t *taint; /* instruction -> gt_taint bits of what it reads */
    bool too_large; /* more than GT_FLOW_MOST_...: nothing more is to be done */
};

/* Make blocks, edges and loops of a program whose instructions (text, fields, executions), warps and
 * warps_per_block are there.  Targets in `flows` that lie nowhere must have been taken away.  Never fails:
 * counts that contradict each other are told in `report`, and set flow_broken.  A program with more control
 * flow than GT_FLOW_MOST_... is left without any: no blocks, edges and loops, and flow_broken. */
void gt_program_build(struct gt_program *program, const struct gt_sass_flow *flows, const uint64_t *divergent,
                      struct gt_flow_report *report);

/* Basic blocks and edges without counts; edges that no warp took are there too. */
void gt_build_blocks(struct gt_build *build);
/* Counts of edges by conservation of flow, divergences; takes edges without a count away. */
void gt_build_counts(struct gt_build *build, struct gt_flow_report *report);
/* Of the branches with a guard that no side is known of, the one whose counts of threads say most: its edge
 * that jumps, and how often; GT_NONE: there is none. */
uint32_t gt_build_jumps_by_threads(const struct gt_build *build, uint64_t *executions);
/* Lead warps past code that polls after a failed try; leaves edges without a count. */
void gt_build_polls(struct gt_build *build);
/* Dominators, natural loops. */
void gt_build_loops(struct gt_build *build);
/* Where divergences join, which edges lead out of loops. */
void gt_build_regions(struct gt_build *build);
/* Who decides alike at a branch or about a loop's trips, and which warps of a block go where. */
void gt_build_roles(struct gt_build *build);

/* Append an edge; block's edges must be appended together. */
void gt_build_add_edge(struct gt_build *build, uint32_t from, uint32_t to);
/* Find edges by where they go to anew. */
void gt_build_index(struct gt_build *build);
/* Does block `a` dominate block `b`? */
bool gt_build_dominates(const struct gt_build *build, uint32_t a, uint32_t b);
/* Is block `b` in loop `loop` or in one inside it? */
bool gt_build_in_loop(const struct gt_build *build, uint32_t b, uint32_t loop);
/* Do warps end in block `b` of `loop`, which they leave by EXIT alone (gt_loop.ends)? */
bool gt_build_ends(const struct gt_build *build, uint32_t b, uint32_t loop);

#endif
