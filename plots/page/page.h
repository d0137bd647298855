/* page.h - a page of the report: the answer, the figures, the tables. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_H

#include <stdio.h>

#include "plots/figures/figure.h"

/* A figure and what became of it; `drawn` false: say why not. */
struct gt_page_figure {
    const struct gt_figure *figure;
    const char *file; /* of its pictures, without ending */
    bool drawn, png;  /* png: there is one beside the .svg */
    struct gt_drawing drawing;
};

/* Write the whole page, of the kind of its view. A run without operations gets a short one. */
int gt_page_write(FILE *out, const struct gt_view *view, const struct gt_page_figure *figures, size_t count,
                  struct gt_error *error);

#endif
