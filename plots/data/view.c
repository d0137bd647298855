/* `loading` is of the same run. */
#include "plots/data/view.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/compare/verdict.h"
#include "traces/explain/loaded_run.h"
#include "traces/explain/part.h"
#include "traces/store/store.h"

/* A run loaded by a thread of its own, while the one that asked works out its statistics. */

struct gt_loading {
    pthread_t thread;
    bool started;     /* there is a thread to wait for */
    const char *path; /* of the store: a connection is a thread's own */
    const struct gt_filter *filter;
    int64_t run_id;            /* 0: nothing to load */
    struct gt_loaded_run *run; /* NULL: it failed */
    struct gt_error error;
};

static void *load(void *user)
{
    struct gt_loading *loading = user;
    struct gt_store *store = gt_store_open(loading->path, false, &loading->error);
    struct gt_database *database = store != NULL ? gt_store_database(store) : NULL;

    if (store == NULL)
        return NULL;
    loading->run = gt_loaded_run_load(database, loading->run_id, &loading->error);
    if (loading->run != NULL && gt_part_take(loading->run, database, loading->filter, &loading->error) != 0) {
        gt_loaded_run_free(loading->run);
        loading->run = NULL;
    }
    gt_store_close(store);
    return NULL;
}

/* Begin to load a run of the store at `path`, with the part of it that `filter` chooses; both must last until the end.
 * Where no thread is to be had it is loaded at once. */
static void loading_begin(struct gt_loading *loading, const char *path, int64_t run_id,
                          const struct gt_filter *filter)
{
    *loading = (struct gt_loading){ .path = path, .filter = filter, .run_id = run_id };
    if (run_id == 0)
        return;
    loading->started = pthread_create(&loading->thread, NULL, load, loading) == 0;
    if (!loading->started)
        load(loading);
}

/* The run, the caller's now; NULL with the reason.  Each gt_loading_begin() needs one: an unwanted run is freed. */
static struct gt_loaded_run *loading_end(struct gt_loading *loading, struct gt_error *error)
{
    struct gt_loaded_run *run;

    if (loading->started && pthread_join(loading->thread, NULL) != 0)
        gt_bug("a thread that was started cannot be waited for");
    run = loading->run;
    if (run == NULL && loading->run_id != 0 && error != NULL)
        *error = loading->error;
    memset(loading, 0, sizeof *loading);
    return run;
}

static int add_side(struct gt_view *view, struct gt_loading *loading, const char *label, struct gt_error *error)
{
    struct gt_side *side = &view->sides[view->side_count];

    side->stats = gt_stats_compute(view->database, loading->run_id, view->filter, error);
    side->run = loading_end(loading, side->stats != NULL ? error : NULL);
    if (side->stats == NULL || side->run == NULL) {
        gt_loaded_run_free(side->run);
        gt_stats_free(side->stats);
        *side = (struct gt_side){ 0 };
        return -1;
    }
    side->label = label;
    side->origin_ps = (int64_t)side->stats->summary.start_ps;
    view->side_count++;
    return 0;
}

static bool is_gpu_op(const struct gt_loaded_op *op)
{
    return op->there && op->kind != GT_OP_HOST_FUNCTION;
}

bool gt_view_has_both(const struct gt_view *view, gt_op_index op)
{
    const struct gt_loaded_run *first = view->sides[0].run, *second = view->sides[1].run;

    return first->op_count == second->op_count && is_gpu_op(&first->ops[op]) && is_gpu_op(&second->ops[op]);
}

/* Two runs are laid over each other where errors are counted from: at the first start among the operations that both
 * have. Runs of different operations stay at their own first ones. */
static void align(struct gt_view *view)
{
    int64_t first_ps[GT_SIDES] = { INT64_MAX, INT64_MAX };

    for (uint32_t i = 0; i < view->subject->run->op_count; i++)
        for (int side = 0; gt_view_has_both(view, i) && side < GT_SIDES; side++)
            if ((int64_t)view->sides[side].run->ops[i].start_ps < first_ps[side])
                first_ps[side] = (int64_t)view->sides[side].run->ops[i].start_ps;
    for (int side = 0; side < GT_SIDES && first_ps[side] < INT64_MAX; side++)
        view->sides[side].origin_ps = first_ps[side];
}

static void find_span(struct gt_view *view)
{
    view->from_ps = view->to_ps = 0;
    for (size_t i = 0; i < view->side_count; i++) {
        const struct gt_side *side = &view->sides[i];
        int64_t from_ps = (int64_t)side->stats->summary.start_ps - side->origin_ps;
        int64_t to_ps = (int64_t)side->stats->summary.end_ps - side->origin_ps;

        view->from_ps = from_ps < view->from_ps ? from_ps : view->from_ps;
        view->to_ps = to_ps > view->to_ps ? to_ps : view->to_ps;
    }
    if (view->to_ps <= view->from_ps)
        view->to_ps = view->from_ps + 1000;
    view->unit = gt_time_unit((double)(view->to_ps - view->from_ps));
}

static uint8_t class_of_name(const struct gt_stats *stats, const char *name)
{
    for (size_t i = 0; name != NULL && i < stats->kernel_count && i < GT_CLASS_KERNELS; i++)
        if (strcmp(stats->kernels[i].name, name) == 0)
            return (uint8_t)i;
    return GT_CLASS_OTHER_KERNEL;
}

static void class_kernels(const struct gt_view *view, struct gt_side *side)
{
    side->kernel_classes = gt_calloc(side->run->kernel_count + 1ull, sizeof *side->kernel_classes);
    for (uint32_t i = 0; i < side->run->kernel_count; i++)
        side->kernel_classes[i] = class_of_name(view->subject->stats, side->run->kernels[i].name);
}

/* Find the runs that a page about `*run` (0: the newest) is of. */
static int find_runs(struct gt_view *view, int64_t *run, int64_t *before, struct gt_error *error)
{
    *before = 0;
    if (*run == 0 && gt_verdict_find_runs(view->store, run, &view->measured_run, error) != 0)
        return -1;
    if (*run == 0)
        return gt_error_set(error, "%s: contains no complete run; make one with 'gridtide run'",
                            view->database->path);
    if (gt_verdict_find_measured(view->store, *run, &view->measured_run, error) != 0)
        return -1;
    return gt_store_find_baseline(view->store, *run, before, error);
}

/* The measured run stands beside the simulated one where it has times. */
static int add_measured(struct gt_view *view, struct gt_loading *loading, struct gt_error *error)
{
    if (view->measured_run == 0)
        return 0;
    if (add_side(view, loading, "measured", error) != 0)
        return -1;
    if (view->sides[0].stats->summary.operations > 0)
        return 0;
    gt_stats_free(view->sides[0].stats);
    gt_loaded_run_free(view->sides[0].run);
    view->sides[0] = (struct gt_side){ 0 };
    view->side_count = 0;
    return 0;
}

/* Both runs are loaded while the statistics of the first are worked out, the longer part. */
static int add_loaded(struct gt_view *view, struct gt_loading loading[GT_SIDES], bool change, struct gt_error *error)
{
    int result = change ? add_side(view, &loading[0], "before", error) : add_measured(view, &loading[0], error);

    if (result != 0 || add_side(view, &loading[1], change ? "after" : "simulated", error) != 0)
        return -1;
    view->subject = &view->sides[view->side_count - 1];
    if (view->side_count == GT_SIDES)
        view->beside = &view->sides[0];
    if (!change)
        view->measured = view->beside;
    return 0;
}

static int add_sides(struct gt_view *view, int64_t run, int64_t before, struct gt_error *error)
{
    const char *path = view->database->path;
    struct gt_loading loading[GT_SIDES];
    int result;

    loading_begin(&loading[0], path, before != 0 ? before : view->measured_run, view->filter);
    loading_begin(&loading[1], path, run, view->filter);
    result = add_loaded(view, loading, before != 0, error);
    for (int i = 0; i < GT_SIDES; i++) /* what a failure left */
        gt_loaded_run_free(loading_end(&loading[i], NULL));
    return result;
}

static int by_cycles(const void *left, const void *right)
{
    const struct gt_kernel_row *a = left, *b = right;
    double in_a = isnan(a->in_measured.cycles) ? a->in_simulated.cycles : a->in_measured.cycles;
    double in_b = isnan(b->in_measured.cycles) ? b->in_simulated.cycles : b->in_measured.cycles;

    in_a = isnan(in_a) ? 0 : in_a;
    in_b = isnan(in_b) ? 0 : in_b;
    if (in_a != in_b)
        return in_a > in_b ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* A change is held against what was simulated before it, not against what was measured. */
static int load_kernels(struct gt_view *view, int64_t run, struct gt_error *error)
{
    int64_t measured_run = view->kind == GT_PAGE_CHANGE ? 0 : view->measured_run;

    if (gt_kernels_load(view->store, run, measured_run, &view->kernels, error) != 0)
        return -1;
    if (view->kernels.count > 0)
        qsort(view->kernels.rows, view->kernels.count, sizeof *view->kernels.rows, by_cycles);
    return 0;
}

static int open_runs(struct gt_view *view, int64_t run, struct gt_error *error)
{
    struct gt_verdict verdict;
    int64_t before;

    if (find_runs(view, &run, &before, error) != 0 || add_sides(view, run, before, error) != 0)
        return -1;
    view->kind = before != 0 ? GT_PAGE_CHANGE : GT_PAGE_TIMELINE;
    if (load_kernels(view, run, error) != 0)
        return -1;
    if (before == 0 && view->beside == NULL && view->kernels.count > 0)
        view->kind = GT_PAGE_KERNELS;
    for (size_t i = 0; i < view->side_count; i++)
        class_kernels(view, &view->sides[i]);
    if (view->beside != NULL) {
        view->other_streams = view->subject->stats->run.trace_id != view->beside->stats->run.trace_id;
        align(view);
    }
    if (gt_verdict_of(view->store, before != 0 ? before : run, false, &verdict, error) != 0)
        return -1;
    view->comparison = verdict.comparison;
    return 0;
}

int gt_view_open(struct gt_view *view, struct gt_store *store, int64_t run, const struct gt_filter *filter,
                 struct gt_error *error)
{
    memset(view, 0, sizeof *view);
    view->store = store;
    view->filter = filter;
    view->database = gt_store_database(store);
    if (open_runs(view, run, error) != 0) {
        gt_view_close(view);
        return -1;
    }
    find_span(view);
    return 0;
}

void gt_view_close(struct gt_view *view)
{
    for (size_t i = 0; i < view->side_count; i++) {
        gt_stats_free(view->sides[i].stats);
        gt_loaded_run_free(view->sides[i].run);
        free(view->sides[i].kernel_classes);
    }
    gt_kernels_free(&view->kernels);
    memset(view, 0, sizeof *view);
}

const char *gt_view_class_name(const struct gt_view *view, enum gt_class class)
{
    if (gt_class_rows[class].label != NULL)
        return gt_class_rows[class].label;
    return (size_t) class < view->subject->stats->kernel_count ? view->subject->stats->kernels[class].name : NULL;
}

enum gt_class gt_view_op_class(const struct gt_side *side, gt_op_index op)
{
    const struct gt_loaded_op *row = &side->run->ops[op];

    if (row->kind == GT_OP_KERNEL)
        return side->kernel_classes[row->kernel];
    return gt_palette_class(gt_op_kind_names[row->kind],
                            row->direction < GT_DIRECTIONS ? gt_direction_names[row->direction] : NULL);
}

size_t gt_view_stream_place(const struct gt_side *side, gt_stream_index stream)
{
    const struct gt_stats *stats = side->stats;
    size_t low = GT_LOWER_BOUND(middle, 0, stats->stream_count, stats->streams[middle].stream < stream);
    return low < stats->stream_count && stats->streams[low].stream == stream ? low : stats->stream_count;
}

int gt_view_ops(const struct gt_side *side, gt_view_op_fn *each, void *user, struct gt_error *error)
{
    const struct gt_loaded_run *run = side->run;

    for (uint32_t i = 0; i < run->op_count; i++) {
        const struct gt_loaded_op *row = &run->ops[i];
        const struct gt_view_op op = {
            .stream = (uint32_t)gt_view_stream_place(side, row->stream),
            .class = gt_view_op_class(side, i),
            .start_ps = (int64_t)row->start_ps - side->origin_ps,
            .end_ps = (int64_t)row->end_ps - side->origin_ps,
            .bytes = row->bytes,
        };

        if (row->there && op.stream < side->stats->stream_count && gt_part_has_op(side->run, i) &&
            each(user, &op, error) != 0)
            return -1;
    }
    return 0;
}

static bool has_several_gpus(const struct gt_stats *stats)
{
    for (size_t i = 1; i < stats->stream_count; i++)
        if (stats->streams[i].gpu != stats->streams[0].gpu)
            return true;
    return false;
}

char *gt_view_stream_name(const struct gt_side *side, size_t stream)
{
    const struct gt_stats_stream *row = &side->stats->streams[stream];
    char *name = row->name[0] != '\0' ? strdup(row->name) : NULL, *text;

    if (name == NULL && asprintf(&name, "stream %" PRIu64, row->id) < 0)
        gt_bug("asprintf failed");
    if (!has_several_gpus(side->stats))
        return name;
    if (asprintf(&text, "GPU %u %s", row->gpu, name) < 0)
        gt_bug("asprintf failed");
    free(name);
    return text;
}

const struct gt_class_row gt_class_rows[GT_CLASSES] = {
    { 0x0072b2, NULL, 1 },
    { 0xe69f00, NULL, 1 },
    { 0x009e73, NULL, 1 },
    { 0xcc79a7, NULL, 1 },
    { 0x56b4e9, NULL, 1 },
    { 0xd55e00, NULL, 1 },
    [GT_CLASS_OTHER_KERNEL] = { 0xa6b4c2, "other kernels", 1 },
    [GT_CLASS_H2D] = { 0x1a1a1a, "copy host to device", 0.6 },
    [GT_CLASS_D2H] = { 0x7d7d7d, "copy device to host", 0.6 },
    [GT_CLASS_D2D] = { 0x6b4c1e, "copy within the device", 0.6 },
    [GT_CLASS_OTHER_COPY] = { 0x4b2e83, "copy between devices or hosts", 0.6 },
    [GT_CLASS_MEMSET] = { 0xd9c400, "memset", 0.6 },
    [GT_CLASS_HOST_FUNCTION] = { 0x8c2d19, "host function", 0.3 },
};

enum gt_class gt_palette_class(const char *kind, const char *direction)
{
    /* clang-format off */
    static const struct { const char *kind, *direction; enum gt_class class; } known[] = {
        { "kernel", NULL, GT_CLASS_OTHER_KERNEL },
        { "memset", NULL, GT_CLASS_MEMSET },
        { "host_function", NULL, GT_CLASS_HOST_FUNCTION },
        { "copy", "h2d", GT_CLASS_H2D },
        { "copy", "d2h", GT_CLASS_D2H },
        { "copy", "d2d", GT_CLASS_D2D },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (kind != NULL && strcmp(kind, known[i].kind) == 0 &&
            (known[i].direction == NULL || (direction != NULL && strcmp(direction, known[i].direction) == 0)))
            return known[i].class;
    return GT_CLASS_OTHER_COPY;
}
