/* The report of a load: latencies by policy and tenant, who ran when. */
#include <math.h>

#include "plots/data/serve_view.h"
#include "plots/figures/serve_figures.h"
#include "plots/page/page_plain.h"
#include "plots/page/page_table.h"
#include "sim/base/sort.h"
#include "traces/names/clean_text.h"

enum { ROWS_MAX = 2000 };

static void put_headline(FILE *out, const struct gt_serve_view *view)
{
    const struct gt_serve_view_run *run = &view->runs[0];
    uint64_t requests = 0;

    for (uint32_t i = 0; i < view->run_count; i++)
        for (uint32_t j = 0; j < view->runs[i].tenant_count; j++)
            requests += view->runs[i].tenants[j].count;
    fprintf(out, "%s requests of %u %s on ", gt_count_text(requests).s, run->tenant_count,
            run->tenant_count == 1 ? "tenant" : "tenants");
    gt_html(out, run->device);
    fputs(", sharing: ", out);
    gt_html(out, run->share);
    fputs(".</p>\n</section>\n", out);
}

static struct gt_text us_text(double us)
{
    return gt_time_text(us * 1e6);
}

static void put_run_name(FILE *out, const struct gt_serve_view_run *run)
{
    fputs("<td>", out);
    gt_html(out, run->policy);
    if (!isnan(run->load))
        fprintf(out, ", load %g", run->load);
    fputs("</td>", out);
}

static uint64_t rows_of(const struct gt_serve_view *view)
{
    uint64_t rows = 0;

    for (uint32_t i = 0; i < view->run_count; i++)
        rows += view->runs[i].tenant_count;
    return rows;
}

static void put_latencies(FILE *out, const struct gt_serve_view *view)
{
    static const char *const heads[] = { "Tenant", "Policy", "Requests", "Per second", "Alone", "p50",
                                         "p95",    "p99",    "Longest",  "Deadline",   "Late",  NULL };
    uint64_t shown = 0;

    gt_page_table_begin(out, "latencies", "Latencies",
                        "From a request's arrival to its end. Late: beyond its deadline.", heads);
    for (uint32_t i = 0; i < view->run_count; i++) {
        for (uint32_t j = 0; j < view->runs[i].tenant_count && shown < ROWS_MAX; j++, shown++) {
            const struct gt_serve_view_tenant *tenant = &view->runs[i].tenants[j];

            gt_page_name_cell(out, tenant->name, tenant->name);
            put_run_name(out, &view->runs[i]);
            gt_page_cell(out, gt_count_text(tenant->count));
            gt_page_cell(out, gt_number_text(tenant->per_s));
            gt_page_cell(out, us_text(tenant->alone_us));
            gt_page_cell(out, us_text(gt_percentile(tenant->latency_us, tenant->count, 50)));
            gt_page_cell(out, us_text(gt_percentile(tenant->latency_us, tenant->count, 95)));
            gt_page_cell(out, us_text(gt_percentile(tenant->latency_us, tenant->count, 99)));
            gt_page_cell(out, us_text(gt_percentile(tenant->latency_us, tenant->count, 100)));
            gt_page_cell(out, us_text(tenant->deadline_us));
            if (isnan(tenant->deadline_us))
                fputs("<td>–</td>", out);
            else
                gt_page_cell(out, gt_count_text(tenant->late));
            fputs("</tr>\n", out);
        }
    }
    gt_page_table_end(out, "serve", rows_of(view), shown);
}

static void put_time(FILE *out, const struct gt_serve_view *view)
{
    static const char *const heads[] = { "Tenant", "Policy", "Queued", "Service", "Held", "Waited", "Slowed", NULL };
    uint64_t shown = 0;

    gt_page_table_begin(
        out, "time", "Where the time goes",
        "Means of a request. Queued: before it began. Service: from then to its end. Within it, added up over "
        "streams: "
        "kernels held by the policy; work that waited for SMs, copy engines or queues of others; work that took "
        "longer than alone.",
        heads);
    for (uint32_t i = 0; i < view->run_count; i++) {
        for (uint32_t j = 0; j < view->runs[i].tenant_count && shown < ROWS_MAX; j++, shown++) {
            const struct gt_serve_view_tenant *tenant = &view->runs[i].tenants[j];

            gt_page_name_cell(out, tenant->name, tenant->name);
            put_run_name(out, &view->runs[i]);
            gt_page_cell(out, us_text(tenant->queued_us));
            gt_page_cell(out, us_text(tenant->service_us));
            gt_page_cell(out, us_text(tenant->held_us));
            gt_page_cell(out, us_text(tenant->waited_us));
            gt_page_cell(out, us_text(tenant->slowed_us));
            fputs("</tr>\n", out);
        }
    }
    gt_page_table_end(out, "serve", rows_of(view), shown);
}

static int put_page(FILE *out, const struct gt_folder *folder, const void *user, struct gt_error *error)
{
    const struct gt_serve_view *view = user;

    if (gt_plain_head(out, "Requests", error) != 0)
        return -1;
    put_headline(out, view);
    if (gt_plain_figure(out, folder, GT_SERVE_POLICIES, "Policies",
                        "Left: 99th percentile of the first critical tenant's latency by its load. Right: the same "
                        "against the rate of the "
                        "first best-effort tenant; better is down and to the right.",
                        gt_prepare_serve_policies, view, error) != 0 ||
        gt_plain_figure(out, folder, GT_SERVE_LATENCY, "Latencies of the first run",
                        "How many requests of each tenant take at most so long.", gt_prepare_serve_latency, view,
                        error) != 0)
        return -1;
    put_latencies(out, view);
    put_time(out, view);
    if (gt_plain_figure(out, folder, GT_SERVE_TIMELINE, "The first operations",
                        "Above: kernels (high) and copies (low) of each tenant. Below: SMs that have blocks of it.",
                        gt_prepare_serve_timeline, view, error) != 0)
        return -1;
    gt_plain_foot(out);
    return 0;
}

int gt_page_serve(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error)
{
    struct gt_serve_view view;
    int result = gt_serve_view_load(&view, store, error);

    if (result == 0)
        result = gt_plain_page(folder, put_page, &view, error);
    gt_serve_view_free(&view);
    return result;
}
