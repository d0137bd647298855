#include "plots/page/report.h"

#include <stdlib.h>
#include <string.h>

#include "plots/data/report_folder.h"
#include "plots/data/suite_view.h"
#include "plots/figures/serve_figures.h"
#include "plots/figures/sweep_figures.h"
#include "plots/page/page.h"
#include "plots/page/page_plain.h"
#include "traces/store/serve_rows.h"

/* A report that is being made. */
struct making {
    const struct gt_folder *folder;
    const struct gt_filter *filter; /* the part of a run that is shown */
    const struct gt_predictor *predictor;
    int64_t predicted_run; /* that it predicts for */
    gt_report_progress *progress;
    void *user;
    uint64_t done, total; /* figures */
};

static void tell(struct making *making)
{
    if (making->progress != NULL)
        making->progress(making->user, making->done++, making->total);
}

static int draw(struct making *making, const struct gt_view *view, struct gt_page_figure *figure,
                struct gt_error *error)
{
    int prepared;

    tell(making);
    if (view->subject->stats->summary.operations == 0)
        return 0;
    if (gt_drawing_begin(&figure->drawing, making->folder, error) != 0)
        return -1;
    prepared = figure->figure->prepare(view, &figure->drawing, error);
    if (prepared != 1) {
        gt_drawing_abandon(&figure->drawing);
        return prepared;
    }
    figure->drawn = true;
    return gt_drawing_plot(&figure->drawing, figure->figure->template, figure->file, figure->png, error);
}

/* The figures of a page of that kind; `figures` NULL: count them. */
static size_t choose_figures(enum gt_page_kind kind, const char *file, struct gt_page_figure *figures)
{
    size_t count = 0;

    for (unsigned i = 0; i < gt_figure_count; i++) {
        const struct gt_figure *figure = &gt_figures[i];

        if (!((figure->opens | figure->follows) & kind))
            continue;
        if (figures != NULL)
            figures[count] = (struct gt_page_figure){ .figure = figure,
                                                      .file = file != NULL ? file : figure->name,
                                                      .png = file == NULL };
        count++;
    }
    return count;
}

/* One page with its figures.  `file` NULL: the report's first. */
static int write_page(struct making *making, const struct gt_view *view, const char *file, struct gt_error *error)
{
    size_t count = choose_figures(view->kind, file, NULL);
    struct gt_page_figure *figures = gt_calloc(count + 1, sizeof *figures);
    int result = 0;
    char name[32];
    FILE *out;

    choose_figures(view->kind, file, figures);
    for (size_t i = 0; i < count && result == 0; i++)
        result = draw(making, view, &figures[i], error);
    snprintf(name, sizeof name, "%s.html", file != NULL ? file : "index");
    out = result == 0 ? gt_folder_open(making->folder, name, error) : NULL;
    if (out == NULL) {
        result = -1;
    } else if (gt_page_write(out, view, figures, count, error) != 0) {
        fclose(out);
        result = -1;
    } else {
        result = gt_folder_close(making->folder, out, error);
    }
    free(figures);
    return result;
}

/* The page of trace `place` of a suite, and (0) the suite's own. */
static int write_suite_page(struct making *making, const struct gt_suite_view *suite, struct gt_store *store,
                            uint32_t place, struct gt_error *error)
{
    struct gt_view view;
    char file[16];
    int result;

    if (gt_view_open(&view, store, suite->rows[place == 0 ? 0 : place - 1].run, NULL, error) != 0)
        return -1;
    snprintf(file, sizeof file, "trace-%u", place);
    view.kind = place == 0 ? GT_PAGE_SUITE : GT_PAGE_TRACE;
    view.suite = suite;
    result = write_page(making, &view, place == 0 ? NULL : file, error);
    gt_view_close(&view);
    return result;
}

static int write_suite(struct making *making, const struct gt_suite_view *suite, struct gt_store *store,
                       struct gt_error *error)
{
    uint32_t pages = suite->count < GT_FOLDER_TRACES ? suite->count : GT_FOLDER_TRACES;

    making->total = choose_figures(GT_PAGE_SUITE, NULL, NULL) + pages * choose_figures(GT_PAGE_TRACE, NULL, NULL);
    for (uint32_t place = 0; place <= pages; place++)
        if (write_suite_page(making, suite, store, place, error) != 0)
            return -1;
    return 0;
}

static int write_run(struct making *making, struct gt_store *store, struct gt_error *error)
{
    struct gt_view view;
    int result;

    if (gt_view_open(&view, store, 0, making->filter, error) != 0)
        return -1;
    making->total = choose_figures(view.kind, NULL, NULL);
    if (view.subject->run->run_id == making->predicted_run)
        view.predictor = making->predictor;
    result = write_page(making, &view, NULL, error);
    gt_view_close(&view);
    return result;
}

static int write_all(struct making *making, struct gt_store *store, struct gt_error *error)
{
    struct gt_suite_view suite;
    int result = gt_store_has_sweep(store, error);

    if (result != 0)
        return result > 0 ? gt_page_sweep(making->folder, store, error) : -1;
    result = gt_store_has_serve(store, error);
    if (result != 0)
        return result > 0 ? gt_page_serve(making->folder, store, error) : -1;
    result = gt_suite_view_load(&suite, store, error);

    if (result == 0 && suite.count > 1 && !gt_filter_is_all(making->filter))
        result = gt_error_set(error, "%s: contains several traces; a part can be shown for one trace only",
                              gt_store_database(store)->path);
    if (result == 0)
        result = suite.count > 1 ? write_suite(making, &suite, store, error) : write_run(making, store, error);
    gt_suite_view_free(&suite);
    return result;
}

/* Of pages that are about no single run. */
static const char *const plain_pictures[] = { GT_SWEEP_LINES, GT_SWEEP_MAP, GT_SERVE_LATENCY, GT_SERVE_TIMELINE,
                                              GT_SERVE_POLICIES };
enum { PLAIN = sizeof plain_pictures / sizeof *plain_pictures };

static int begin(struct gt_folder *folder, const char *path, struct gt_error *error)
{
    const char **pictures = gt_calloc(gt_figure_count + PLAIN, sizeof *pictures);
    int result;

    for (unsigned i = 0; i < gt_figure_count; i++)
        pictures[i] = gt_figures[i].name;
    memcpy(&pictures[gt_figure_count], plain_pictures, sizeof plain_pictures);
    result = gt_folder_begin(folder, path, pictures, gt_figure_count + PLAIN, error);
    free(pictures);
    return result;
}

int gt_report(struct gt_store *store, const char *path, const struct gt_filter *filter,
              const struct gt_predictor *predictor, int64_t predicted_run, gt_report_progress *progress, void *user,
              struct gt_error *error)
{
    struct gt_folder folder;
    struct making making = { .folder = &folder,
                             .filter = filter,
                             .predictor = predictor,
                             .predicted_run = predicted_run,
                             .progress = progress,
                             .user = user };

    if (begin(&folder, path, error) != 0)
        return -1;
    if (write_all(&making, store, error) == 0)
        return gt_folder_commit(&folder, error);
    gt_folder_abandon(&folder);
    return -1;
}
