/* draw.h - random traces by seed, family and number. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_DRAW_H
#define GRIDTIDE_VALIDATE_RANDOM_DRAW_H

#include "sim/workload/workload.h"

/* Which traces: trace i is the i / families-th of the i modulo families-th family. */
enum { GT_DRAW_FAMILIES_MAX = 16 };
struct gt_draws {
    const struct gt_family *families[GT_DRAW_FAMILIES_MAX];
    uint32_t family_count;
    uint64_t seed;
    const struct gt_kernel_list *list; /* for families that draw among its kernels; else NULL */
};

/* Families by name, with commas ("streams,graphs"; NULL: those that need no asking). Returns 0, or -1 with the names there are.
 * The list of kernels is left out: the caller's to set where gt_draws_need_list(). */
int gt_draws_of(struct gt_draws *draws, const char *families, uint64_t seed, struct gt_error *error);
bool gt_draws_need_list(const struct gt_draws *draws);

/* The name of trace `number`: "random-SEED/streams-12". */
void gt_draw_name(const struct gt_draws *draws, uint32_t number, char *name, size_t bytes);

/* Its text in the trace format, malloced. */
char *gt_draw_text(const struct gt_draws *draws, uint32_t number);

/* A trace's text as a checked workload; NULL with why not. */
struct gt_workload *gt_draw_read(const char *text, struct gt_error *error);

#endif
