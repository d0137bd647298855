/* parts.h - the parts of a page, which page.c puts together. */
#ifndef GRIDTIDE_PLOTS_PAGE_PARTS_H
#define GRIDTIDE_PLOTS_PAGE_PARTS_H

#include <stdio.h>

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

/* A page that is being written. */
struct gt_page {
    FILE *out;
    const struct gt_view *view;
    struct gt_page_names names;
};

/* The answer in words and numbers, by kind of page; a suite's with the table of its traces. */
void gt_page_timeline_answer(const struct gt_page *page);
void gt_page_kernels_answer(const struct gt_page *page);
int gt_page_change_answer(const struct gt_page *page, struct gt_error *error);
void gt_page_suite_answer(const struct gt_page *page);
/* What every page of one run says of it, after its own answer: use, numbers, critical path. */
void gt_page_use(const struct gt_page *page);
void gt_page_path(const struct gt_page *page);
void gt_page_tile(FILE *out, const char *what, struct gt_text number);
/* What limits kernels in cycles, and what would help those with the most; nothing where none was simulated. */
int gt_page_kernel_limits(const struct gt_page *page, struct gt_error *error);
/* What bounds a step, where its time goes, what would help most. */
void gt_page_overview(const struct gt_page *page);
/* The critical path, by cause and by operator. */
int gt_page_bound(const struct gt_page *page, struct gt_error *error);
/* What limits the run and what would help; what to do next. */
int gt_page_why(const struct gt_page *page, struct gt_error *error);
/* The timeline with its script, which takes the place of the picture of the id "still". */
int gt_page_live(const struct gt_page *page, struct gt_error *error);
/* A file of plots/templates between two texts. */
int gt_page_file(FILE *out, const char *name, const char *before, const char *after, struct gt_error *error);
/* What the import could not know. */
int gt_page_warnings(const struct gt_page *page, struct gt_error *error);
/* Launches in cycles; nothing where the runs have none. */
int gt_page_kernels(const struct gt_page *page, struct gt_error *error);
/* Streams, kernels, copies, notes, the device. */
int gt_page_tables(const struct gt_page *page, struct gt_error *error);
/* Of runs with collectives that a rank had to wait for, a row a GPU; else nothing. */
void gt_page_ranks(const struct gt_page *page);
/* The mean share of an SM's warps that was resident; NAN where the run does not say. */
double gt_page_mean_occupancy(const struct gt_stats *stats);

#endif
