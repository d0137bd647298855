/* page_names.h - what kernels and calls are called on one page: two of them never the same. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_NAMES_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_NAMES_H

#include "plots/data/view.h"

struct gt_page_names {
    const char **names;
    char **shorts;
    size_t count;
};

/* Rows of the tables and of the list that show such names. */
enum { GT_PAGE_LAUNCHES = 100, GT_PAGE_KERNEL_ROWS = 40, GT_PAGE_PATH_PARTS = 5 };

/* The names that a page of `view` shows; the view must last as long. */
struct gt_page_names gt_page_names_of(const struct gt_view *view);
void gt_page_names_free(struct gt_page_names *names);

/* The short form of one of them; the name itself where it is none. */
const char *gt_page_short_name(const struct gt_page_names *names, const char *name);

#endif
