/* Operations by stream over time, of two runs the first above the second. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "traces/names/short_name.h"

enum {
    LEFT_PX = 210,
    TOP_PX = 10,
    AXIS_PX = 66,
    PLOT_PX = GT_FIGURE_WIDTH_PX - LEFT_PX - GT_FIGURE_RIGHT_PX,
    LANE_PX = 17,
    LANE_GAP_PX = 2,
    GROUP_GAP_PX = 12,
    LEGEND_ROW_PX = 22,
    LEGEND_COLUMNS = 3,
    LEGEND_NAME_COLUMNS = 38,
    STREAM_NAME_COLUMNS = 17,
    STREAMS_MAX = 20, /* shown, each side */
    BOXES_MAX = 2000, /* drawn one by one */
};

struct lane {
    size_t side, stream;
    unsigned y_px;
};
struct box {
    unsigned lane;
    enum gt_class class;
    int64_t start_ps, end_ps;
};

struct timeline {
    const struct gt_view *view;
    size_t side; /* being read */
    struct lane lanes[2 * STREAMS_MAX];
    unsigned lane_count, height_px;
    unsigned streams_shown, streams_total;
    unsigned *lane_of[GT_SIDES]; /* by stream: its lane + 1, 0 none */
    struct box boxes[BOXES_MAX];
    uint64_t operations;        /* in the lanes: boxes, as long as they fit */
    double (*busy)[GT_CLASSES]; /* by lane and column: share of the column's time */
    bool seen[GT_CLASSES];
};

struct ranked {
    size_t stream;
    gt_time_ps busy_ps;
};

static int by_busy(const void *a, const void *b)
{
    const struct ranked *first = a, *second = b;

    if (first->busy_ps != second->busy_ps)
        return first->busy_ps < second->busy_ps ? 1 : -1;
    return first->stream < second->stream ? -1 : first->stream > second->stream;
}

static int by_stream(const void *a, const void *b)
{
    const struct ranked *first = a, *second = b;

    return first->stream < second->stream ? -1 : first->stream > second->stream;
}

/* The streams of `sides` (bit set) that are busiest, in their order. Returns how many. */
static size_t choose_streams(struct timeline *timeline, unsigned sides, struct ranked chosen[STREAMS_MAX])
{
    const struct gt_view *view = timeline->view;
    struct ranked *all;
    size_t count = 0, streams = 0;

    for (size_t side = 0; side < view->side_count; side++)
        if ((sides >> side & 1) && view->sides[side].stats->stream_count > streams)
            streams = view->sides[side].stats->stream_count;
    all = gt_calloc(streams + 1, sizeof *all);
    for (size_t stream = 0; stream < streams; stream++) {
        gt_time_ps busy_ps = 0;
        uint64_t operations = 0;

        for (size_t side = 0; side < view->side_count; side++) {
            const struct gt_stats *stats = view->sides[side].stats;

            if (!(sides >> side & 1) || stream >= stats->stream_count)
                continue;
            operations += stats->streams[stream].operations;
            busy_ps = stats->streams[stream].busy_ps > busy_ps ? stats->streams[stream].busy_ps : busy_ps;
        }
        if (operations > 0)
            all[count++] = (struct ranked){ stream, busy_ps };
    }
    qsort(all, count, sizeof *all, by_busy);
    timeline->streams_total += (unsigned)count;
    count = count < STREAMS_MAX ? count : STREAMS_MAX;
    timeline->streams_shown += (unsigned)count;
    qsort(all, count, sizeof *all, by_stream);
    memcpy(chosen, all, count * sizeof *all);
    free(all);
    return count;
}

/* One lane for each of `sides`, for each chosen stream; the lanes of one stream close together. */
static void add_lanes(struct timeline *timeline, unsigned sides)
{
    struct ranked chosen[STREAMS_MAX];
    size_t count = choose_streams(timeline, sides, chosen);

    for (size_t i = 0; i < count; i++) {
        timeline->height_px += GROUP_GAP_PX;
        for (size_t side = 0; side < timeline->view->side_count; side++) {
            if (!(sides >> side & 1) || chosen[i].stream >= timeline->view->sides[side].stats->stream_count)
                continue;
            timeline->lanes[timeline->lane_count] = (struct lane){ side, chosen[i].stream, timeline->height_px };
            timeline->lane_of[side][chosen[i].stream] = ++timeline->lane_count;
            timeline->height_px += LANE_PX + LANE_GAP_PX;
        }
    }
}

static void plan_lanes(struct timeline *timeline)
{
    const struct gt_view *view = timeline->view;

    for (size_t side = 0; side < view->side_count; side++)
        timeline->lane_of[side] = gt_calloc(view->sides[side].stats->stream_count + 1, sizeof(unsigned));
    for (size_t side = 0; view->other_streams && side < view->side_count; side++)
        add_lanes(timeline, 1u << side);
    if (!view->other_streams)
        add_lanes(timeline, (1u << view->side_count) - 1);
    timeline->height_px += GROUP_GAP_PX;
}

static void add_busy(struct timeline *timeline, unsigned lane, const struct gt_view_op *op)
{
    double column_ps = (double)(timeline->view->to_ps - timeline->view->from_ps) / PLOT_PX;
    double from = (double)(op->start_ps - timeline->view->from_ps) / column_ps;
    double to = (double)(op->end_ps - timeline->view->from_ps) / column_ps;

    for (int column = (int)fmax(from, 0); column < PLOT_PX && column < to; column++) {
        double share = fmin(to, column + 1) - fmax(from, column);

        if (share > 0)
            timeline->busy[lane * PLOT_PX + (unsigned)column][op->class] += share;
    }
}

static int add_op(void *user, const struct gt_view_op *op, struct gt_error *error)
{
    struct timeline *timeline = user;
    unsigned lane = timeline->lane_of[timeline->side][op->stream];

    (void)error;
    if (lane == 0)
        return 0;
    timeline->seen[op->class] = true;
    if (timeline->operations < BOXES_MAX)
        timeline->boxes[timeline->operations] = (struct box){ lane - 1, op->class, op->start_ps, op->end_ps };
    timeline->operations++;
    add_busy(timeline, lane - 1, op);
    return 0;
}

/* The lanes themselves. */
static int write_tracks(const struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "tracks.tsv", error);

    if (out == NULL)
        return -1;
    for (unsigned i = 0; i < timeline->lane_count; i++)
        fprintf(out, "%u\t%u\n", timeline->lanes[i].y_px, timeline->lanes[i].y_px + LANE_PX);
    return gt_folder_close(drawing->folder, out, error);
}

/* Is lane `i` of the same stream as the one before? */
static bool is_second(const struct timeline *timeline, unsigned i)
{
    return i > 0 && i < timeline->lane_count && !timeline->view->other_streams &&
           timeline->lanes[i - 1].stream == timeline->lanes[i].stream;
}

static void write_lane(FILE *out, const struct timeline *timeline, unsigned i, const char *name)
{
    const struct lane *lane = &timeline->lanes[i];
    unsigned rows_px = is_second(timeline, i + 1) ? 2 * LANE_PX + LANE_GAP_PX : LANE_PX;

    fprintf(out, "%.1f\t%s\t%.1f\t", lane->y_px + LANE_PX / 2.0,
            timeline->view->beside != NULL ? timeline->view->sides[lane->side].label : " ",
            lane->y_px + rows_px / 2.0);
    gt_plot_field(out, is_second(timeline, i) ? " " : name);
    putc('\n', out);
}

/* The streams' and the sides' names; the streams of each side differ from each other. */
static int write_names(const struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "lanes.tsv", error);
    char *names[2 * STREAMS_MAX], *shorts[2 * STREAMS_MAX];

    if (out == NULL)
        return -1;
    for (unsigned i = 0; i < timeline->lane_count; i++)
        names[i] = gt_view_stream_name(&timeline->view->sides[timeline->lanes[i].side], timeline->lanes[i].stream);
    gt_short_names_unique((const char *const *)names, shorts, timeline->lane_count, STREAM_NAME_COLUMNS);
    for (unsigned i = 0; i < timeline->lane_count; i++) {
        write_lane(out, timeline, i, shorts[i]);
        free(names[i]);
        free(shorts[i]);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static int write_boxes(const struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_view *view = timeline->view;
    double pixel = gt_view_time(view, (double)(view->to_ps - view->from_ps)) / PLOT_PX;
    FILE *out = gt_folder_open_work(drawing->folder, "boxes.tsv", error);

    if (out == NULL)
        return -1;
    for (uint64_t i = 0; i < timeline->operations; i++) {
        const struct box *box = &timeline->boxes[i];
        const struct gt_class_row *row = &gt_class_rows[box->class];
        double from = gt_view_time(view, (double)box->start_ps), to = gt_view_time(view, (double)box->end_ps);
        double top = timeline->lanes[box->lane].y_px + LANE_PX * (1 - row->height) / 2;

        if (to - from > 5 * pixel)
            to -= 0.8 * pixel; /* so that neighbours stay two */
        else if (to - from < pixel)
            to = from + pixel; /* so that the shortest is seen */
        fprintf(out, "%.6f\t%.6f\t%.2f\t%.2f\t%" PRIu32 "\n", from, to, top, top + LANE_PX * row->height, row->rgb);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void put_pixel(unsigned char *raster, unsigned x, unsigned y, uint32_t rgb)
{
    unsigned char *pixel = raster + 3 * ((size_t)y * PLOT_PX + x);

    pixel[0] = (unsigned char)(rgb >> 16);
    pixel[1] = (unsigned char)(rgb >> 8);
    pixel[2] = (unsigned char)rgb;
}

/* A column of a lane: classes stacked from below, together as high as the lane was busy. */
static void draw_column(const struct timeline *timeline, unsigned char *raster, unsigned lane, unsigned column)
{
    const double *busy = timeline->busy[lane * PLOT_PX + column];
    unsigned bottom = timeline->lanes[lane].y_px + LANE_PX, filled = 0;
    double sum = 0;

    for (int class = 0; class < GT_CLASSES; class ++) {
        unsigned until;

        sum += busy[class];
        until = (unsigned)lround(fmin(sum, 1) * LANE_PX);
        if (sum > 0 && until == 0)
            until = 1; /* a little is still seen */
        for (; filled < until; filled++)
            put_pixel(raster, column, bottom - 1 - filled, gt_class_rows[class].rgb);
    }
    for (; filled < LANE_PX; filled++)
        put_pixel(raster, column, bottom - 1 - filled, 0xf0f0f0);
}

static int write_raster(const struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    size_t bytes = (size_t)3 * PLOT_PX * timeline->height_px;
    FILE *out = gt_folder_open_work(drawing->folder, "raster.rgb", error);
    unsigned char *raster;

    if (out == NULL)
        return -1;
    raster = gt_calloc(bytes, 1);
    memset(raster, 0xff, bytes);
    for (unsigned lane = 0; lane < timeline->lane_count; lane++)
        for (unsigned column = 0; column < PLOT_PX; column++)
            draw_column(timeline, raster, lane, column);
    fwrite(raster, 1, bytes, out);
    free(raster);
    return gt_folder_close(drawing->folder, out, error);
}

/* Returns the number of rows, or -1. */
static int write_legend(const struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "legend.tsv", error);
    const char *names[GT_CLASSES];
    char *shorts[GT_CLASSES];
    int entries = 0;

    if (out == NULL)
        return -1;
    for (int class = 0; class < GT_CLASSES; class ++)
        if (timeline->seen[class])
            names[entries++] = gt_view_class_name(timeline->view, (enum gt_class) class);
    gt_short_names_unique(names, shorts, (size_t)entries, LEGEND_NAME_COLUMNS);
    for (int class = 0, entry = 0; class < GT_CLASSES; class ++) {
        const struct gt_class_row *row = &gt_class_rows[class];

        if (!timeline->seen[class])
            continue;
        fprintf(out, "%d\t%d\t%.2f\t%" PRIu32 "\t", entry % LEGEND_COLUMNS, entry / LEGEND_COLUMNS, row->height,
                row->rgb);
        gt_plot_field(out, shorts[entry]);
        putc('\n', out);
        free(shorts[entry++]);
    }
    if (gt_folder_close(drawing->folder, out, error) != 0)
        return -1;
    return (entries + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
}

static void describe(const struct timeline *timeline, struct gt_drawing *drawing)
{
    static const char boxes[] =
        "A box is an operation; boxes of copies and memsets are less high than those of kernels.";
    static const char columns[] = "Too many operations to draw each: the filled height of a column is the share of "
                                  "its time during which the stream was busy; colours show with what.";
    const struct gt_side *beside = timeline->view->beside, *subject = timeline->view->subject;
    char pair[80] = "";
    char left_out[120] = "";

    if (timeline->streams_shown < timeline->streams_total)
        snprintf(left_out, sizeof left_out, " The %u busiest of %u streams are shown.", timeline->streams_shown,
                 timeline->streams_total);
    if (beside != NULL)
        snprintf(pair, sizeof pair, ", %s above %s", beside->label, subject->label);
    snprintf(drawing->alt, sizeof drawing->alt, "Timeline of %u %s%s: when kernels and copies ran.",
             timeline->streams_shown, timeline->streams_shown == 1 ? "stream" : "streams", pair);
    pair[0] = '\0';
    if (beside != NULL && timeline->view->other_streams)
        snprintf(pair, sizeof pair, "%s",
                 timeline->view->kind == GT_PAGE_CHANGE
                     ? "Streams before the change come first, then those after it. "
                     : "Measured streams come first, then simulated ones. ");
    else if (beside != NULL)
        snprintf(pair, sizeof pair, "Each stream has two rows: %s above, %s below. ", beside->label, subject->label);
    snprintf(drawing->caption, sizeof drawing->caption, "%s%s%s Time counts from the first operation%s.%s",
             beside == NULL ? "A row is a stream. " : pair, timeline->operations <= BOXES_MAX ? boxes : columns,
             " Kernels are coloured by name; those with the most time have their own colour.",
             beside != NULL ? " in each" : "", left_out);
}

static int write_all(struct timeline *timeline, struct gt_drawing *drawing, struct gt_error *error)
{
    bool boxes = timeline->operations <= BOXES_MAX;
    int legend_rows = write_legend(timeline, drawing, error);
    unsigned legend_px = (unsigned)legend_rows * LEGEND_ROW_PX + 8;

    if (legend_rows < 0 || write_tracks(timeline, drawing, error) != 0 ||
        write_names(timeline, drawing, error) != 0 ||
        (boxes ? write_boxes(timeline, drawing, error) : write_raster(timeline, drawing, error)) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, timeline->height_px, AXIS_PX + legend_px);
    gt_figure_time_axis(timeline->view, drawing);
    fprintf(drawing->parameters,
            "boxes = %d\nplot_px = %d\nplot_height_px = %u\nlegend_rows = %d\n"
            "legend_columns = %d\nlegend_px = %u\n",
            boxes, PLOT_PX, timeline->height_px, legend_rows, LEGEND_COLUMNS, legend_px);
    describe(timeline, drawing);
    return 1;
}

gt_prepare_fn gt_prepare_timeline;
int gt_prepare_timeline(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct timeline *timeline = gt_calloc(1, sizeof *timeline);
    int result = 0;

    timeline->view = view;
    plan_lanes(timeline);
    timeline->busy = gt_calloc((size_t)timeline->lane_count * PLOT_PX + 1, sizeof *timeline->busy);
    for (; result == 0 && timeline->side < view->side_count; timeline->side++)
        result = gt_view_ops(&view->sides[timeline->side], add_op, timeline, error);
    if (result == 0 && timeline->operations > 0)
        result = write_all(timeline, drawing, error);
    for (size_t side = 0; side < view->side_count; side++)
        free(timeline->lane_of[side]);
    free(timeline->busy);
    free(timeline);
    return result;
}
