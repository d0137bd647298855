#include "plots/page/report.h"

#include "plots/data/report_folder.h"
#include "plots/page/page.h"

static const struct gt_figure *const figures[] = {
    &gt_figure_timeline, &gt_figure_sms, &gt_figure_warps, &gt_figure_copies, &gt_figure_errors,
    &gt_figure_placement, &gt_figure_suite, &gt_figure_families, &gt_figure_cycles, &gt_figure_roofline,
    &gt_figure_stalls,
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static int draw(const struct gt_view *view, const struct gt_folder *folder, struct gt_page_figure *figure,
                struct gt_error *error)
{
    int prepared;

    if (view->main->stats->summary.operations == 0)
        return 0;
    if (gt_drawing_begin(&figure->drawing, folder, error) != 0)
        return -1;
    prepared = figure->figure->prepare(view, &figure->drawing, error);
    if (prepared != 1) {
        gt_drawing_abandon(&figure->drawing);
        return prepared;
    }
    figure->drawn = true;
    return gt_drawing_plot(&figure->drawing, figure->figure->name, error);
}

static int write_page(const struct gt_view *view, const struct gt_folder *folder,
                      const struct gt_page_figure *drawn, struct gt_error *error)
{
    FILE *out = gt_folder_open(folder, "index.html", error);

    if (out == NULL)
        return -1;
    if (gt_page_write(out, view, drawn, FIGURES, error) != 0) {
        fclose(out);
        return -1;
    }
    return gt_folder_close(folder, out, error);
}

static int fill(const struct gt_view *view, const struct gt_folder *folder, gt_report_progress *progress,
                void *user, struct gt_error *error)
{
    struct gt_page_figure drawn[FIGURES] = { 0 };

    for (int i = 0; i < FIGURES; i++) {
        drawn[i].figure = figures[i];
        if (progress != NULL)
            progress(user, (uint64_t)i, FIGURES);
        if (draw(view, folder, &drawn[i], error) != 0)
            return -1;
    }
    return write_page(view, folder, drawn, error);
}

int gt_report(struct gt_store *store, const char *path, gt_report_progress *progress, void *user,
              struct gt_error *error)
{
    struct gt_folder folder;
    struct gt_view view;
    int result;

    if (gt_folder_begin(&folder, path, error) != 0)
        return -1;
    result = gt_view_open(&view, store, error);
    if (result == 0) {
        result = fill(&view, &folder, progress, user, error);
        gt_view_close(&view);
    }
    if (result == 0)
        return gt_folder_commit(&folder, error);
    gt_folder_abandon(&folder);
    return -1;
}
