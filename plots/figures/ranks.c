/* Ranks over time: what each GPU computes, and below it its parts of collectives: waiting for the last rank, or moving data, beside
 * other work (hidden) or alone (exposed); who came last is marked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "traces/explain/ranks.h"

enum {
    LEFT_PX = 80,
    TOP_PX = 10,
    AXIS_PX = 66,
    PLOT_PX = GT_FIGURE_WIDTH_PX - LEFT_PX - GT_FIGURE_RIGHT_PX,
    HEIGHT_PX = 384,
    LANES_MAX = 64, /* shown: a lane of six pixels each at least */
    LANE_MOST_PX = 56,
    LEGEND_ROW_PX = 22,
    LEGEND_COLUMNS = 3,
    MARKS = 24 /* the parts that kept others longest */
};
/* Kept for less than this part of what is shown, nobody is marked. */
static const double least_kept = 0.004;

enum doing { DOING_WORK, DOING_HIDDEN, DOING_EXPOSED, DOING_WAIT_HIDDEN, DOING_WAIT, DOINGS };
static const struct {
    const char *name;
    uint32_t rgb;
} doings[DOINGS] = {
    [DOING_WORK] = { "kernels and copies", 0x8d99a6 },
    [DOING_HIDDEN] = { "data transfer, other work runs (hidden)", 0x0072b2 },
    [DOING_EXPOSED] = { "data transfer, nothing else runs (exposed)", 0xd55e00 },
    [DOING_WAIT_HIDDEN] = { "waits for the last rank, other work runs", 0xb5d8ee },
    [DOING_WAIT] = { "waits for the last rank, nothing else runs", 0xf7cba6 },
};

struct mark {
    double at_ps, kept_ps;
    unsigned lane;
};

struct ranks {
    const struct gt_view *view;
    const struct gt_loaded_run *run;
    struct gt_rank_waits *waits;
    size_t lanes, all;      /* shown; there are */
    unsigned lane_px;       /* of a lane: work above, collectives below, a gap */
    unsigned *lane_of;      /* by GPU: its lane; lanes where it has none */
    float (*share)[DOINGS]; /* by lane and column: of the column's time */
    bool *is_part;          /* by operation: of a collective */
    struct mark marks[MARKS];
    unsigned mark_count;
};

static void add(struct ranks *ranks, unsigned lane, enum doing doing, double from_ps, double to_ps)
{
    const struct gt_view *view = ranks->view;
    double column_ps = (double)(view->to_ps - view->from_ps) / PLOT_PX, origin_ps = (double)view->subject->origin_ps;
    double from = (from_ps - origin_ps - (double)view->from_ps) / column_ps;
    double to = (to_ps - origin_ps - (double)view->from_ps) / column_ps;

    for (int column = (int)fmax(from, 0); column < PLOT_PX && column < to; column++) {
        double share = fmin(to, column + 1) - fmax(from, column);

        if (share > 0)
            ranks->share[lane * PLOT_PX + (unsigned)column][doing] += (float)share;
    }
}

static void add_piece(void *user, const struct gt_rank_piece *piece)
{
    static const enum doing doing_of[2][2] = { { DOING_EXPOSED, DOING_HIDDEN }, { DOING_WAIT, DOING_WAIT_HIDDEN } };
    struct ranks *ranks = user;
    unsigned lane = ranks->lane_of[piece->gpu];

    ranks->is_part[piece->part] = true;
    if (lane < ranks->lanes)
        add(ranks, lane, doing_of[piece->waiting][piece->hidden], (double)piece->from_ps, (double)piece->to_ps);
}

static void add_work(struct ranks *ranks)
{
    const struct gt_loaded_run *run = ranks->run;

    for (uint32_t i = 0; i < run->started; i++) {
        gt_op_index op = run->by_start[i];
        unsigned lane = ranks->lane_of[run->streams[run->ops[op].stream].gpu];

        if (lane < ranks->lanes && !ranks->is_part[op] && gt_selection_has_op(&run->part, op))
            add(ranks, lane, DOING_WORK, (double)run->ops[op].start_ps, (double)run->ops[op].end_ps);
    }
}

/* The last to come, by how long others waited: the longest stay. */
static void add_mark(void *user, const struct gt_rank_late *late)
{
    struct ranks *ranks = user;
    struct mark mark = { (double)late->came_ps, (double)late->kept_ps, ranks->lane_of[late->gpu] };
    unsigned place = ranks->mark_count;

    if (mark.lane >= ranks->lanes || mark.kept_ps < least_kept * (double)(ranks->view->to_ps - ranks->view->from_ps))
        return;
    if (ranks->mark_count < MARKS)
        ranks->mark_count++;
    else if (mark.kept_ps <= ranks->marks[--place].kept_ps)
        return;
    for (; place > 0 && ranks->marks[place - 1].kept_ps < mark.kept_ps; place--)
        ranks->marks[place] = ranks->marks[place - 1];
    ranks->marks[place] = mark;
}

/* The colour of a column is the mean of what goes on in it; white is nothing. */
static void write_pixel(FILE *out, const float share[DOINGS], enum doing first, enum doing last)
{
    double rgb[3] = { 0 }, left = 1;

    for (enum doing doing = first; doing <= last && left > 0; doing++) {
        double part = fmin(share[doing], left);

        for (int i = 0; i < 3; i++)
            rgb[i] += part * (doings[doing].rgb >> (16 - 8 * i) & 255);
        left -= part;
    }
    for (int i = 0; i < 3; i++)
        putc((int)(rgb[i] + fmax(left, 0) * 255), out);
}

static void write_line(const struct ranks *ranks, FILE *out, unsigned lane, unsigned line)
{
    static const float nothing[DOINGS];
    unsigned gap = ranks->lane_px / 6 > 0 ? ranks->lane_px / 6 : 1, half = (ranks->lane_px - gap) / 2;

    for (unsigned column = 0; column < PLOT_PX; column++) {
        const float *share = ranks->share[lane * PLOT_PX + column];

        if (line < half)
            write_pixel(out, share, DOING_WORK, DOING_WORK);
        else if (line < 2 * half)
            write_pixel(out, share, DOING_HIDDEN, DOING_WAIT);
        else
            write_pixel(out, nothing, DOING_WORK, DOING_WORK);
    }
}

static int write_raster(const struct ranks *ranks, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "raster.rgb", error);

    if (out == NULL)
        return -1;
    for (unsigned lane = 0; lane < ranks->lanes; lane++)
        for (unsigned line = 0; line < ranks->lane_px; line++)
            write_line(ranks, out, lane, line);
    return gt_folder_close(drawing->folder, out, error);
}

static int write_lanes(const struct ranks *ranks, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "lanes.tsv", error);

    if (out == NULL)
        return -1;
    for (unsigned lane = 0; lane < ranks->lanes; lane++)
        fprintf(out, "%g\tGPU %u\n", (lane + 0.42) * ranks->lane_px, ranks->waits[lane].gpu);
    return gt_folder_close(drawing->folder, out, error);
}

/* At the top of the last rank's part: when it came. */
static int write_marks(const struct ranks *ranks, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);

    if (out == NULL)
        return -1;
    for (unsigned i = 0; i < ranks->mark_count; i++)
        fprintf(out, "%.9g\t%g\n",
                gt_view_time(ranks->view, ranks->marks[i].at_ps - (double)ranks->view->subject->origin_ps),
                (ranks->marks[i].lane + 0.42) * ranks->lane_px);
    return gt_folder_close(drawing->folder, out, error);
}

static int write_legend(struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "legend.tsv", error);

    if (out == NULL)
        return -1;
    for (int doing = 0; doing < DOINGS; doing++)
        fprintf(out, "%d\t%d\t1\t%u\t%s\n", doing % LEGEND_COLUMNS, doing / LEGEND_COLUMNS,
                (unsigned)doings[doing].rgb, doings[doing].name);
    return gt_folder_close(drawing->folder, out, error);
}

static void describe(const struct ranks *ranks, struct gt_drawing *drawing)
{
    const struct gt_rank_waits *late = &ranks->waits[0];
    gt_time_ps hidden_ps = 0, exposed_ps = 0;
    char shown[80] = "", last[240] = "";

    for (size_t i = 0; i < ranks->all; i++) {
        late = ranks->waits[i].kept_ps > late->kept_ps ? &ranks->waits[i] : late;
        hidden_ps += ranks->waits[i].hidden_ps;
        exposed_ps += ranks->waits[i].exposed_ps;
    }
    if (ranks->lanes < ranks->all)
        snprintf(shown, sizeof shown, " The first %zu GPUs of %zu are shown.", ranks->lanes, ranks->all);
    if (late->kept_ps > 0)
        snprintf(last, sizeof last,
                 " The straggler is GPU %u: it was last %s times, and the others waited %s for it.", late->gpu,
                 gt_count_text(late->last).s, gt_time_text((double)late->kept_ps).s);
    snprintf(drawing->alt, sizeof drawing->alt,
             "Activity of %zu GPUs over time: work, and collectives that wait or transfer data (hidden or exposed).",
             ranks->lanes);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Of the collectives’ time, %s was hidden by other work and %s was exposed (%s of it).%s%s",
             gt_time_text((double)hidden_ps).s, gt_time_text((double)exposed_ps).s,
             gt_share_text((double)exposed_ps / fmax((double)(hidden_ps + exposed_ps), 1)).s, last, shown);
}

static int draw(struct ranks *ranks, struct gt_drawing *drawing, struct gt_error *error)
{
    unsigned rows = (DOINGS + LEGEND_COLUMNS) / LEGEND_COLUMNS; /* with the mark's own place */
    unsigned legend_px = rows * LEGEND_ROW_PX + 8, height_px = (unsigned)ranks->lanes * ranks->lane_px;

    if (write_raster(ranks, drawing, error) != 0 || write_lanes(ranks, drawing, error) != 0 ||
        write_marks(ranks, drawing, error) != 0 || write_legend(drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, height_px, AXIS_PX + legend_px);
    gt_figure_time_axis(ranks->view, drawing);
    fprintf(drawing->parameters,
            "plot_px = %d\nplot_height_px = %u\nmarks = %u\nlegend_rows = %u\nlegend_columns = %d\nlegend_px = %u\n"
            "mark_column = %d\nmark_row = %d\n",
            PLOT_PX, height_px, ranks->mark_count, rows, LEGEND_COLUMNS, legend_px, DOINGS % LEGEND_COLUMNS,
            DOINGS / LEGEND_COLUMNS);
    describe(ranks, drawing);
    return 1;
}

static void place_lanes(struct ranks *ranks)
{
    ranks->lanes = ranks->all < LANES_MAX ? ranks->all : LANES_MAX;
    ranks->lane_px = HEIGHT_PX / (unsigned)ranks->lanes;
    ranks->lane_px = ranks->lane_px < LANE_MOST_PX ? ranks->lane_px : LANE_MOST_PX;
    for (uint32_t gpu = 0; gpu < ranks->run->gpu_count; gpu++)
        ranks->lane_of[gpu] = (unsigned)ranks->lanes;
    for (unsigned lane = 0; lane < ranks->lanes; lane++)
        ranks->lane_of[ranks->waits[lane].gpu] = lane;
}

gt_prepare_fn gt_prepare_ranks;
int gt_prepare_ranks(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct ranks ranks = { .view = view, .run = view->subject->run };
    int result = 0;

    ranks.waits = gt_rank_waits(ranks.run, &ranks.all);
    if (ranks.all > 0) {
        ranks.lane_of = gt_calloc(ranks.run->gpu_count + 1ull, sizeof *ranks.lane_of);
        ranks.is_part = gt_calloc(ranks.run->op_count + 1ull, sizeof *ranks.is_part);
        place_lanes(&ranks);
        ranks.share = gt_calloc(ranks.lanes * PLOT_PX + 1ull, sizeof *ranks.share);
        gt_rank_pieces(ranks.run, add_piece, &ranks);
        gt_rank_lates(ranks.run, add_mark, &ranks);
        add_work(&ranks);
        result = draw(&ranks, drawing, error);
    }
    free(ranks.waits);
    free(ranks.lane_of);
    free(ranks.is_part);
    free(ranks.share);
    return result;
}
