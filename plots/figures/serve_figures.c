#include "plots/figures/serve_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/axes.h"
#include "sim/base/sort.h"
#include "traces/names/clean_text.h"

enum { LEFT_PX = 110, TOP_PX = 50, AXIS_PX = 66, PLOT_PX = 380, POINTS = 400, TENANTS_SHOWN = 12 };
enum { LANE_PX = 20, SMS_PX = 170, GAP_PX = 40, SPAN_OPERATIONS = 100 };

static uint32_t shown_tenants(const struct gt_serve_view_run *run)
{
    return run->tenant_count < TENANTS_SHOWN ? run->tenant_count : TENANTS_SHOWN;
}

static void write_curve(FILE *out, const struct gt_serve_view_tenant *tenant)
{
    gt_plot_field(out, tenant->name);
    putc('\n', out);
    for (uint32_t i = 0; tenant->count > 0 && i <= POINTS; i++) {
        uint64_t rank = (tenant->count - 1) * i / POINTS;

        /* The axis is logarithmic. */
        fprintf(out, "%.9g\t%.9g\n", fmax(tenant->latency_us[rank], 1e-3),
                100.0 * (double)(rank + 1) / (double)tenant->count);
    }
    fputs("\n\n", out); /* the next tenant */
}

int gt_prepare_serve_latency(const void *user, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_serve_view *view = user;
    const struct gt_serve_view_run *run = &view->runs[0];
    uint64_t requests = 0;
    FILE *points;

    for (uint32_t i = 0; i < shown_tenants(run); i++)
        requests += run->tenants[i].count;
    if (requests == 0)
        return 0;
    points = gt_folder_open_work(drawing->folder, "points.tsv", error);
    if (points == NULL)
        return -1;
    for (uint32_t i = 0; i < shown_tenants(run); i++)
        write_curve(points, &run->tenants[i]);
    if (gt_folder_close(drawing->folder, points, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "tenants = %u\n", shown_tenants(run));
    snprintf(drawing->alt, sizeof drawing->alt, "Distribution of the latencies of %u tenants.", shown_tenants(run));
    return 1;
}

/* Boxes of the first operations: time, lane, tenant. */
static uint32_t write_boxes(FILE *out, const struct gt_serve_view *view, uint32_t shown, double *from_us,
                            double *to_us)
{
    uint32_t written = 0;

    *from_us = view->operations[0].start_us;
    *to_us = *from_us;
    for (uint32_t i = 0; i < view->operation_count && written < SPAN_OPERATIONS; i++) {
        const struct gt_serve_view_operation *operation = &view->operations[i];

        if (operation->tenant >= shown)
            continue;
        fprintf(out, "%.9g\t%.9g\t%u\t%.3g\n", operation->start_us, operation->end_us, operation->tenant,
                operation->kernel ? 0.4 : 0.15);
        *to_us = fmax(*to_us, operation->end_us);
        written++;
    }
    return written;
}

/* Outlines of the SMs of each tenant over that time. */
static void write_sms(FILE *out, const struct gt_serve_view *view, uint32_t shown, double from_us, double to_us)
{
    uint32_t at = 0;

    for (uint32_t tenant = 0; tenant < shown; tenant++) {
        uint32_t level = 0;

        fprintf(out, "%.9g\t0\n", from_us);
        for (; at < view->sms_count && view->sms[at].tenant <= tenant; at++) {
            if (view->sms[at].at_us < from_us || view->sms[at].at_us > to_us)
                continue;
            fprintf(out, "%.9g\t%u\n%.9g\t%u\n", view->sms[at].at_us, level, view->sms[at].at_us, view->sms[at].sms);
            level = view->sms[at].sms;
        }
        fprintf(out, "%.9g\t%u\n%.9g\t0\n\n\n", to_us, level, to_us);
    }
}

/* Are there some that take time, of tenants that are shown? */
static bool has_operations(const struct gt_serve_view *view, uint32_t shown)
{
    for (uint32_t i = 0; i < view->operation_count; i++)
        if (view->operations[i].tenant < shown && view->operations[i].end_us > view->operations[0].start_us)
            return true;
    return false;
}

int gt_prepare_serve_timeline(const void *user, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_serve_view *view = user;
    const struct gt_serve_view_run *run = &view->runs[0];
    uint32_t shown = shown_tenants(run), most = 1;
    double from_us, to_us;
    FILE *boxes, *names, *levels;

    if (!has_operations(view, shown))
        return 0;
    boxes = gt_folder_open_work(drawing->folder, "boxes.tsv", error);
    names = boxes != NULL ? gt_folder_open_work(drawing->folder, "lanes.tsv", error) : NULL;
    levels = names != NULL ? gt_folder_open_work(drawing->folder, "tracks.tsv", error) : NULL;
    if (levels == NULL)
        return -1;
    write_boxes(boxes, view, shown, &from_us, &to_us);
    for (uint32_t i = 0; i < shown; i++) {
        fprintf(names, "%u\t", i);
        gt_plot_field(names, run->tenants[i].name);
        putc('\n', names);
    }
    write_sms(levels, view, shown, from_us, to_us);
    for (uint32_t i = 0; i < view->sms_count; i++)
        most = view->sms[i].sms > most ? view->sms[i].sms : most;
    if (gt_folder_close(drawing->folder, boxes, error) != 0 || gt_folder_close(drawing->folder, names, error) != 0 ||
        gt_folder_close(drawing->folder, levels, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, shown * LANE_PX + GAP_PX + SMS_PX, AXIS_PX);
    fprintf(drawing->parameters, "tenants = %u\nlanes_px = %u\nsms_px = %d\nsms = %.9g\nfrom = %.9g\nto = %.9g\n",
            shown, shown * LANE_PX, SMS_PX, gt_figure_top(most), from_us, to_us);
    snprintf(drawing->alt, sizeof drawing->alt,
             "The first operations of %u tenants over time, and the SMs that their blocks are on.", shown);
    return 1;
}

static const struct gt_serve_view_tenant *first_of(const struct gt_serve_view_run *run, bool critical)
{
    for (uint32_t i = 0; i < run->tenant_count; i++)
        if (run->tenants[i].critical == critical && run->tenants[i].count > 0)
            return &run->tenants[i];
    return NULL;
}

/* Of each policy, one point a load: load, p99 of the first critical tenant, rate of the first best-effort one. */
static uint32_t write_policies(FILE *out, const struct gt_serve_view *view, bool *loads, bool *rates)
{
    uint32_t policies = 0;
    double load = NAN;

    for (uint32_t i = 0; i < view->run_count; i++) {
        const struct gt_serve_view_run *run = &view->runs[i];
        const struct gt_serve_view_tenant *critical = first_of(run, true), *other = first_of(run, false);

        if (i == 0 || strcmp(run->policy, view->runs[i - 1].policy) != 0) {
            fputs(policies++ > 0 ? "\n\n" : "", out);
            gt_plot_field(out, run->policy);
            putc('\n', out);
        }
        *loads |= !isnan(load) && run->load != load;
        *rates |= other != NULL;
        load = run->load;
        if (critical != NULL)
            fprintf(out, "%.9g\t%.9g\t%.9g\n", isnan(run->load) ? 0 : run->load,
                    fmax(gt_percentile(critical->latency_us, critical->count, 99), 1e-3),
                    other != NULL ? other->per_s : 0);
    }
    return policies;
}

int gt_prepare_serve_policies(const void *user, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_serve_view *view = user;
    bool loads = false, rates = false;
    uint32_t policies, critical = 0;
    FILE *points;

    for (uint32_t i = 0; i < view->run_count; i++)
        critical += first_of(&view->runs[i], true) != NULL;
    if (view->run_count < 2 || critical < view->run_count)
        return 0;
    points = gt_folder_open_work(drawing->folder, "points.tsv", error);
    if (points == NULL)
        return -1;
    policies = write_policies(points, view, &loads, &rates);
    if (gt_folder_close(drawing->folder, points, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "policies = %u\nloads = %d\nrates = %d\n", policies, loads, rates);
    snprintf(drawing->alt, sizeof drawing->alt, "99th percentile of the latency of %u policies.", policies);
    return 1;
}
