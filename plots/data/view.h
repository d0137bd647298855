/* view.h - what a page of the report draws from: a simulated run, the run that it is held against, their
 * numbers. */
#ifndef GRIDTIDE_PLOTS_DATA_VIEW_H
#define GRIDTIDE_PLOTS_DATA_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "plots/data/units.h"
#include "traces/compare/compare.h"
#include "traces/compare/kernel_cycles.h"
#include "traces/explain/loaded_run.h"
#include "traces/stats/stats.h"

struct gt_suite_view;

enum gt_class {
    GT_CLASS_KERNELS = 6, /* 0..5: the kernel names that take most time */
    GT_CLASS_OTHER_KERNEL = GT_CLASS_KERNELS,
    GT_CLASS_H2D,
    GT_CLASS_D2H,
    GT_CLASS_D2D,
    GT_CLASS_OTHER_COPY,
    GT_CLASS_MEMSET,
    GT_CLASS_HOST_FUNCTION,
    GT_CLASSES
};

struct gt_class_row {
    uint32_t rgb;
    const char *label; /* NULL: the kernel's name */
    double height;     /* of a box, as a share of its lane */
};
extern const struct gt_class_row gt_class_rows[GT_CLASSES];

/* The class of an operation that is no kernel, by its kind and direction in the store. */
enum gt_class gt_palette_class(const char *kind, const char *direction);

enum { GT_SIDES = 2 };

/* What a page is about; the figures of each stand in plots/figures/table.c. */
enum gt_page_kind {
    GT_PAGE_TIMELINE = 1 << 0, /* one trace, simulated, with what it recorded where it did */
    GT_PAGE_KERNELS = 1 << 1,  /* kernels in cycles, with what a profiler measured where it did */
    GT_PAGE_CHANGE = 1 << 2,   /* a run with a change beside the one without */
    GT_PAGE_SUITE = 1 << 3,    /* the errors of many traces */
    GT_PAGE_TRACE = 1 << 4,    /* one of these */
};

/* One run of the report. */
struct gt_side {
    struct gt_stats *stats;
    struct gt_loaded_run *run; /* its operations and calls; a measured one’s without waits and causes; its part is
                                  what is shown */
    const char *label;         /* "simulated", "measured", "before", "after" */
    int64_t origin_ps;         /* in the run's time: what the figures call zero */
    uint8_t *kernel_classes;   /* by kernel_no of its trace */
    size_t kernels;
};

struct gt_view {
    enum gt_page_kind kind;
    struct gt_store *store;
    struct gt_database *database;
    const struct gt_filter *filter; /* the part of each run that is shown; NULL: all */
    /* Measured over simulated, or before over after, as drawn; with one run alone there is one. */
    struct gt_side sides[GT_SIDES];
    size_t side_count;
    const struct gt_side *subject;     /* the one that the answer is about: simulated, after */
    const struct gt_side *beside;      /* the other one; or NULL */
    const struct gt_side *measured;    /* the other one where it is measured: a distance from it is an error */
    int64_t measured_run;              /* what the trace recorded, beside the subject or not, times or cycles; or 0 */
    struct gt_comparison comparison;   /* of the simulated run, of a change the one without, with measured_run */
    struct gt_kernels kernels;         /* the subject’s launches in cycles, most first; count 0: there are none */
    const struct gt_suite_view *suite; /* of GT_PAGE_SUITE; else NULL */
    const struct gt_predictor *predictor; /* what changes of the subject gain; NULL: nobody says */
    int64_t from_ps, to_ps;               /* what the time axes span, since the origins */
    const struct gt_time_unit *unit;      /* of the time axes */
    /* An option dealt the work over other streams: the sides' stream numbers mean different streams. */
    bool other_streams;
};

/* One operation in a run; times since the side's origin. */
struct gt_view_op {
    uint32_t stream; /* less than the side's stats->stream_count */
    enum gt_class class;
    int64_t start_ps, end_ps;
    uint64_t bytes;
};
typedef int gt_view_op_fn(void *user, const struct gt_view_op *op, struct gt_error *error);

/* What a run of the store (0: the newest), or a part of it (`filter` not NULL), comes to. Store and filter must outlive
 * the view. */
int gt_view_open(struct gt_view *view, struct gt_store *store, int64_t run, const struct gt_filter *filter,
                 struct gt_error *error);
void gt_view_close(struct gt_view *view);

/* The name of one of the first GT_CLASS_KERNELS classes, the label of a later one; NULL: none so. */
const char *gt_view_class_name(const struct gt_view *view, enum gt_class class);

/* What the figures draw an operation as. */
enum gt_class gt_view_op_class(const struct gt_side *side, gt_op_index op);

/* Visit the operations of a side in order of number. `each` returns 0, or -1 to stop. */
int gt_view_ops(const struct gt_side *side, gt_view_op_fn *each, void *user, struct gt_error *error);

/* Do both sides have an operation of that number, for a GPU?  With two sides; less than the subject's op_count. */
bool gt_view_has_both(const struct gt_view *view, gt_op_index op);

/* The place of a stream among those of a side's stats; their count where none of its operations is shown. */
size_t gt_view_stream_place(const struct gt_side *side, gt_stream_index stream);

/* "stream 7", with its GPU where there are several, or the stream's own name (malloced). */
char *gt_view_stream_name(const struct gt_side *side, size_t stream);

/* A time of the axes in their unit. */
static inline double gt_view_time(const struct gt_view *view, double ps)
{
    return ps / view->unit->ps;
}

#endif
