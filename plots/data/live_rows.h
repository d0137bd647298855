/* live_rows.h - the rows of the timeline that can be zoomed: ranges and calls of host threads, then streams.
 *
 * A row's boxes are in order of start.  All boxes of all rows are counted through: a box says by such a number
 * what let it start.  Times are picoseconds since the side's origin.
 */
#ifndef GRIDTIDE_PLOTS_DATA_LIVE_ROWS_H
#define GRIDTIDE_PLOTS_DATA_LIVE_ROWS_H

#include <stdint.h>

#include "plots/data/view.h"

/* What a name is of: its letter in the page's data. */
enum gt_live_kind {
    GT_LIVE_KERNEL = 'k',
    GT_LIVE_COPY_IN = 'i',
    GT_LIVE_COPY_OUT = 'o',
    GT_LIVE_OTHER_OP = 'm',
    GT_LIVE_CALL = 'c',
    GT_LIVE_RANGE = 'r',
};

struct gt_live_name {
    char *text; /* as traced */
    enum gt_live_kind kind;
    uint32_t rgb;
};

struct gt_live_names {
    struct gt_live_name *rows;
    uint32_t count, room;
    struct gt_live_index *index;
};

/* The place of a name of that kind, which is added where it is new. */
uint32_t gt_live_name(struct gt_live_names *names, enum gt_live_kind kind, const char *text, uint32_t rgb);
void gt_live_names_free(struct gt_live_names *names);

enum gt_live_row_kind { GT_LIVE_ROW_RANGES, GT_LIVE_ROW_CALLS, GT_LIVE_ROW_STREAM };

struct gt_live_range {
    int64_t start_ps, end_ps;
    uint32_t name;
};

struct gt_live_row {
    enum gt_live_row_kind kind;
    size_t side;
    gt_gpu_index gpu; /* of a stream */
    char *title;
    uint32_t *items; /* calls, operations: their numbers; NULL for ranges */
    struct gt_live_range *ranges;
    uint32_t count, room, first; /* first: the number of its first box */
    int64_t busy_until_ps;       /* ranges: the end of the last one */
};

struct gt_live_rows {
    const struct gt_view *view;
    struct gt_live_names names;
    struct gt_live_row *rows;
    uint32_t count, room, boxes;
    uint32_t *op_names[GT_SIDES], *call_names[GT_SIDES]; /* by kernel, by name of a call: place in names */
    uint32_t *op_boxes[GT_SIDES], *call_boxes[GT_SIDES]; /* by number: the box; GT_NONE: there is none */
    uint64_t ranges_left_out;                            /* that lie deeper than there are rows */
    uint32_t rows_left_out;                              /* for the size of the page */
};

/* Returns 0 or -1; free in either case. Of a run with more boxes than a page can hold, the rows of ranges with the
 * most of them are left out, then those of calls, then the recording's; of one with still more there is no row. */
int gt_live_rows_load(struct gt_live_rows *rows, const struct gt_view *view, struct gt_error *error);
void gt_live_rows_free(struct gt_live_rows *rows);

/* The name's place of an operation of a side. */
uint32_t gt_live_op_name(struct gt_live_rows *rows, size_t side, gt_op_index op);

#endif
