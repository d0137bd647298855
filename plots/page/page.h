/* page.h - a report's index.html: the answer, the figures, the tables. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_H

#include <stdio.h>

#include "plots/figures/figure.h"

/* A figure and what became of it; `drawn` false: say why not. */
struct gt_page_figure {
    const struct gt_figure *figure;
    bool drawn;
    struct gt_drawing drawing;
};

/* Write the whole page. A run without operations gets a short one. */
int gt_page_write(FILE *out, const struct gt_view *view, const struct gt_page_figure *figures, size_t count,
                  struct gt_error *error);

/* Its parts: the answer in words, numbers and warnings; the tables after the figures. */
int gt_page_answer(FILE *out, const struct gt_view *view, struct gt_error *error);
int gt_page_tables(FILE *out, const struct gt_view *view, struct gt_error *error);
/* The first of these: launches in cycles.  Nothing where the runs have none. */
int gt_page_kernels(FILE *out, const struct gt_view *view, struct gt_error *error);

/* What a stream waited for, as in "waiting for ...". */
extern const char *const gt_page_waits[GT_WAITS];

#endif
