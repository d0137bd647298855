/* Copies by direction over time, as high as they were fast. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"

enum {
    LANES = 4,
    LEFT_PX = 210,
    TOP_PX = 26,
    AXIS_PX = 60,
    LANE_PX = 130,
    GAP_PX = 34,
    PLOT_PX = GT_FIGURE_WIDTH_PX - LEFT_PX - GT_FIGURE_RIGHT_PX,
    COPIES_MAX = 1000, /* drawn one by one; more are summed by column */
};

/* clang-format off */
static const struct { enum gt_class class; const char *label; } lane_rows[LANES] = {
    { GT_CLASS_H2D, "host to device" },
    { GT_CLASS_D2H, "device to host" },
    { GT_CLASS_D2D, "within the device" },
    { GT_CLASS_OTHER_COPY, "between devices" },
};
/* clang-format on */

/* A change of bandwidth: a copy begins or ends. */
struct change {
    double time, gbps;
};

struct lane {
    uint64_t copies, bytes;
    struct change *changes; /* of the first COPIES_MAX copies */
    size_t change_count;
    double *column_bytes; /* bytes that moved in each column's time */
};

struct copies {
    const struct gt_view *view;
    struct lane lanes[GT_SIDES][LANES], *reading;
    uint64_t count, timeless; /* timeless: took no time, so had no bandwidth */
};

static void add_columns(struct copies *copies, struct lane *lane, const struct gt_view_op *op)
{
    double column_ps = (double)(copies->view->to_ps - copies->view->from_ps) / PLOT_PX;
    double from = (double)(op->start_ps - copies->view->from_ps) / column_ps;
    double to = (double)(op->end_ps - copies->view->from_ps) / column_ps;

    for (int column = (int)fmax(from, 0); column < PLOT_PX && column < to; column++)
        lane->column_bytes[column] +=
            (double)op->bytes * fmax(fmin(to, column + 1) - fmax(from, column), 0) / (to - from);
}

static int add_op(void *user, const struct gt_view_op *op, struct gt_error *error)
{
    struct copies *copies = user;
    struct lane *lane = NULL;
    double gbps;

    (void)error;
    for (int i = 0; i < LANES; i++)
        if (lane_rows[i].class == op->class)
            lane = &copies->reading[i];
    if (lane == NULL)
        return 0;
    copies->count++;
    lane->copies++;
    lane->bytes += op->bytes;
    if (op->end_ps <= op->start_ps) {
        copies->timeless++;
        return 0;
    }
    gbps = (double)op->bytes * 1e3 / (double)(op->end_ps - op->start_ps);
    if (lane->copies <= COPIES_MAX) {
        lane->changes[lane->change_count++] = (struct change){ (double)op->start_ps, gbps };
        lane->changes[lane->change_count++] = (struct change){ (double)op->end_ps, -gbps };
    }
    add_columns(copies, lane, op);
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct change *first = a, *second = b;

    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return first->gbps < second->gbps ? -1 : first->gbps > second->gbps; /* ends first */
}

static void write_exact(struct gt_steps *steps, const struct copies *copies, struct lane *lane)
{
    double gbps = 0;

    qsort(lane->changes, lane->change_count, sizeof *lane->changes, by_time);
    for (size_t i = 0; i < lane->change_count; i++) {
        gbps += lane->changes[i].gbps;
        if (i + 1 == lane->change_count || lane->changes[i + 1].time != lane->changes[i].time)
            gt_steps_to(steps, gt_view_time(copies->view, lane->changes[i].time), gbps);
    }
}

static void write_columns(struct gt_steps *steps, const struct copies *copies, const struct lane *lane)
{
    double column_ps = (double)(copies->view->to_ps - copies->view->from_ps) / PLOT_PX;

    for (int column = 0; column < PLOT_PX; column++)
        gt_steps_to(steps, gt_view_time(copies->view, (double)copies->view->from_ps + column * column_ps),
                    lane->column_bytes[column] * 1e3 / column_ps);
}

/* A lane of a side: a block of the steps file, as wide as the axis. Returns its highest bandwidth. */
static double write_lane(FILE *out, const struct copies *copies, struct lane *lane, bool exact)
{
    struct gt_steps steps = gt_steps_begin(out, gt_view_time(copies->view, (double)copies->view->from_ps));

    if (exact)
        write_exact(&steps, copies, lane);
    else
        write_columns(&steps, copies, lane);
    gt_steps_end(&steps, gt_view_time(copies->view, (double)copies->view->to_ps));
    fputs("\n\n", out);
    return steps.peak;
}

static void describe(const struct copies *copies, bool exact, unsigned lanes, struct gt_drawing *drawing)
{
    const struct gt_view *view = copies->view;
    char timeless[120] = "";

    if (copies->timeless > 0)
        snprintf(timeless, sizeof timeless, " %s copies of zero duration are not drawn.",
                 gt_count_text(copies->timeless).s);
    snprintf(drawing->alt, sizeof drawing->alt, "Bandwidth of copies over time in %u %s", lanes,
             lanes == 1 ? "direction" : "directions");
    if (view->beside != NULL)
        snprintf(drawing->alt + strlen(drawing->alt), sizeof drawing->alt - strlen(drawing->alt),
                 ", %s upwards and %s downwards", view->beside->label, view->subject->label);
    strcat(drawing->alt, ".");
    snprintf(drawing->caption, sizeof drawing->caption, "%s%s",
             exact ? "Bandwidths of concurrent copies in one direction are added."
                   : "Too many copies to draw each: a column shows the mean over its time, so a short copy appears "
                     "with less than its own bandwidth.",
             timeless);
}

/* Lane `number` (from 1) of the figure; copies of a few bytes make megabytes a second. */
static void write_lane_parameters(struct gt_drawing *drawing, unsigned number, int row, double peak_gbps)
{
    bool slow = peak_gbps < 0.1;
    double scale = slow ? 1000 : 1;

    fprintf(drawing->parameters, "lane_top[%u] = %.6g\nlane_scale[%u] = %g\nlane_unit[%u] = \"%s\"\n", number,
            gt_figure_top(peak_gbps * scale), number, scale, number, slow ? "MB/s" : "GB/s");
    fprintf(drawing->parameters, "lane_rgb[%u] = %u\nlane_name[%u] = \"%s\"\n", number,
            gt_class_rows[lane_rows[row].class].rgb, number, lane_rows[row].label);
}

static int write_all(struct copies *copies, struct gt_drawing *drawing, struct gt_error *error)
{
    size_t sides = copies->view->side_count;
    FILE *out = gt_folder_open_work(drawing->folder, "steps.tsv", error);
    unsigned lanes = 0;
    bool exact = copies->count <= COPIES_MAX;

    if (out == NULL)
        return -1;
    gt_figure_sides(copies->view, drawing);
    fprintf(drawing->parameters,
            "array lane_top[%d]\narray lane_rgb[%d]\narray lane_name[%d]\narray lane_scale[%d]\n"
            "array lane_unit[%d]\n",
            LANES, LANES, LANES, LANES, LANES);
    for (int i = 0; i < LANES; i++) {
        double peak = 0;

        if (copies->lanes[0][i].copies + (sides > 1 ? copies->lanes[1][i].copies : 0) == 0)
            continue;
        for (size_t side = 0; side < sides; side++)
            peak = fmax(peak, write_lane(out, copies, &copies->lanes[side][i], exact));
        write_lane_parameters(drawing, ++lanes, i, peak);
    }
    if (gt_folder_close(drawing->folder, out, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, lanes * LANE_PX + (lanes - 1) * GAP_PX, AXIS_PX);
    gt_figure_time_axis(copies->view, drawing);
    fprintf(drawing->parameters, "lanes = %u\nlane_px = %u\ngap_px = %u\n", lanes, (unsigned)LANE_PX,
            (unsigned)GAP_PX);
    describe(copies, exact, lanes, drawing);
    return 1;
}

gt_prepare_fn gt_prepare_copies;
int gt_prepare_copies(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct copies *copies = gt_calloc(1, sizeof *copies);
    int result = 0;

    copies->view = view;
    for (size_t side = 0; side < view->side_count && result == 0; side++) {
        copies->reading = copies->lanes[side];
        for (int i = 0; i < LANES; i++) {
            copies->reading[i].changes = gt_calloc(2 * COPIES_MAX, sizeof(struct change));
            copies->reading[i].column_bytes = gt_calloc(PLOT_PX, sizeof(double));
        }
        result = gt_view_ops(&view->sides[side], add_op, copies, error);
    }
    if (result == 0 && copies->count > copies->timeless)
        result = write_all(copies, drawing, error);
    for (size_t side = 0; side < GT_SIDES; side++) {
        for (int i = 0; i < LANES; i++) {
            free(copies->lanes[side][i].changes);
            free(copies->lanes[side][i].column_bytes);
        }
    }
    free(copies);
    return result;
}
