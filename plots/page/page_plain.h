/* page_plain.h - pages that are about no single run, such as a sweep's or a load's: head, pictures, foot. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_PLAIN_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_PLAIN_H

#include "plots/data/report_folder.h"
#include "plots/figures/gnuplot.h"
#include "traces/store/store.h"

/* What such a page draws from is the user's; 1, 0 where there is nothing to draw, -1. */
typedef int gt_plain_prepare(const void *user, struct gt_drawing *drawing, struct gt_error *error);

/* Until the headline's text, which the caller writes. */
int gt_plain_head(FILE *out, const char *title, struct gt_error *error);
/* A picture and its section; nothing where there is nothing to draw.  `name`: of its template and its files. */
int gt_plain_figure(FILE *out, const struct gt_folder *folder, const char *name, const char *title, const char *how,
                    gt_plain_prepare *prepare, const void *user, struct gt_error *error);
void gt_plain_foot(FILE *out);

/* Writes all of a page of the user's. Returns 0 or -1. */
typedef int gt_plain_put(FILE *out, const struct gt_folder *folder, const void *user, struct gt_error *error);
/* The report's first page, by `put`.  Returns 0 or -1. */
int gt_plain_page(const struct gt_folder *folder, gt_plain_put *put, const void *user, struct gt_error *error);

/* The whole page of a sweep (page_sweep.c), of a load (page_serve.c), into a folder that was begun with their pictures.  Return 0 or -1. */
int gt_page_sweep(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error);
int gt_page_serve(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error);

#endif
