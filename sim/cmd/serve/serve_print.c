#include "sim/cmd/serve/serve_print.h"

#include <math.h>
#include <string.h>

#include "sim/cmd/print/table.h"
#include "sim/serve/policy.h"

static double deadline_us(const struct gt_tenant *tenant)
{
    return tenant->deadline_ps == GT_TIME_NONE ? NAN : (double)tenant->deadline_ps / 1e6;
}

static const char *class_of(const struct gt_tenant *tenant)
{
    return gt_tenant_class_names[!tenant->critical];
}

static double good_rate(const struct gt_tenant *tenant, const struct gt_tenant_result *result)
{
    return tenant->deadline_ps == GT_TIME_NONE ? NAN : gt_serve_rate(result, result->count - result->late);
}

static struct gt_table *tenants_table(const struct gt_serve_result *result)
{
    static const struct gt_column columns[] = {
        { "tenant", GT_COLUMN_TEXT },          { "class", GT_COLUMN_TEXT },       { "requests", GT_COLUMN_NUMBER },
        { "per_s", GT_COLUMN_NUMBER },         { "alone_us", GT_COLUMN_TIME },    { "p50_us", GT_COLUMN_TIME },
        { "p90_us", GT_COLUMN_TIME },          { "p95_us", GT_COLUMN_TIME },      { "p99_us", GT_COLUMN_TIME },
        { "max_us", GT_COLUMN_TIME },          { "deadline_us", GT_COLUMN_TIME }, { "late", GT_COLUMN_NUMBER },
        { "in_time_per_s", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("tenants", columns, sizeof columns / sizeof *columns);

    for (uint32_t i = 0; i < result->serve->load.tenant_count; i++) {
        const struct gt_tenant *tenant = &result->serve->load.tenants[i];
        const struct gt_tenant_result *own = &result->tenants[i];
        static const unsigned percents[] = { 50, 90, 95, 99, 100 };

        gt_table_text(table, tenant->name);
        gt_table_text(table, class_of(tenant));
        gt_table_integer(table, (int64_t)own->count);
        gt_table_real(table, gt_serve_rate(own, own->count), 1);
        gt_table_real(table, (double)tenant->alone_ps / 1e6, 1);
        for (int p = 0; p < 5; p++)
            gt_table_real(table, gt_serve_percentile_us(own, percents[p]), 1);
        gt_table_real(table, deadline_us(tenant), 1);
        gt_table_real(table, tenant->deadline_ps == GT_TIME_NONE ? NAN : (double)own->late, 0);
        gt_table_real(table, good_rate(tenant, own), 1);
    }
    return table;
}

/* Means of a request. */
static struct gt_table *time_table(const struct gt_serve_result *result)
{
    static const struct gt_column columns[] = {
        { "tenant", GT_COLUMN_TEXT },     { "latency_us", GT_COLUMN_TIME }, { "queued_us", GT_COLUMN_TIME },
        { "service_us", GT_COLUMN_TIME }, { "held_us", GT_COLUMN_TIME },    { "waited_us", GT_COLUMN_TIME },
        { "slowed_us", GT_COLUMN_TIME },
    };
    struct gt_table *table = gt_table_new("time", columns, sizeof columns / sizeof *columns);

    for (uint32_t i = 0; i < result->serve->load.tenant_count; i++) {
        const struct gt_tenant_result *own = &result->tenants[i];
        double count_us = (double)own->count * 1e6;

        if (own->count == 0)
            continue;
        gt_table_text(table, result->serve->load.tenants[i].name);
        gt_table_real(table, (own->part_ps[GT_PART_QUEUED] + own->run_ps) / count_us, 1);
        gt_table_real(table, own->part_ps[GT_PART_QUEUED] / count_us, 1);
        gt_table_real(table, own->run_ps / count_us, 1);
        gt_table_real(table, own->part_ps[GT_PART_HELD] / count_us, 1);
        gt_table_real(table, own->part_ps[GT_PART_WAITED] / count_us, 1);
        gt_table_real(table, own->part_ps[GT_PART_SLOWED] / count_us, 1);
    }
    return table;
}

static void add_causes(struct gt_table *table, const struct gt_serve_result *result, uint32_t tenant)
{
    const struct gt_load *load = &result->serve->load;
    const struct gt_tenant_result *own = &result->tenants[tenant];
    uint64_t counts[GT_CAUSES][GT_LOAD_TENANTS_MAX + 1] = { { 0 } }, late = 0;

    for (uint64_t i = 0; i < own->count; i++) {
        uint8_t blocker = own->cause[i].blocker;

        if (!gt_serve_is_late(&load->tenants[tenant], own, own->latency_ps[i]))
            continue;
        counts[own->cause[i].cause][blocker == UINT8_MAX ? GT_LOAD_TENANTS_MAX : blocker]++;
        late++;
    }
    for (int cause = 0; cause < GT_CAUSES; cause++) {
        for (uint32_t blocker = 0; blocker <= GT_LOAD_TENANTS_MAX; blocker++) {
            if (counts[cause][blocker] == 0)
                continue;
            gt_table_text(table, load->tenants[tenant].name);
            gt_table_text(table, cause < GT_PARTS ? gt_request_part_names[cause] : "own");
            gt_table_text(table, blocker < load->tenant_count ? load->tenants[blocker].name : NULL);
            gt_table_integer(table, (int64_t)counts[cause][blocker]);
            gt_table_real(table, 100.0 * (double)counts[cause][blocker] / (double)late, 1);
        }
    }
}

static struct gt_table *late_table(const struct gt_serve_result *result)
{
    static const struct gt_column columns[] = {
        { "tenant", GT_COLUMN_TEXT },     { "cause", GT_COLUMN_TEXT },      { "behind", GT_COLUMN_TEXT },
        { "requests", GT_COLUMN_NUMBER }, { "late_pct", GT_COLUMN_NUMBER },
    };
    struct gt_table *table = gt_table_new("late", columns, sizeof columns / sizeof *columns);

    for (uint32_t i = 0; i < result->serve->load.tenant_count; i++)
        if (result->tenants[i].count > 0)
            add_causes(table, result, i);
    return table;
}

void gt_serve_print(const struct gt_serve_result *result, struct gt_table *saturation, enum gt_format format)
{
    struct gt_table *tables[] = { tenants_table(result), time_table(result), late_table(result), saturation };

    gt_tables_print(stdout, format, tables, saturation != NULL ? 4 : 3);
    for (int i = 0; i < 3; i++)
        gt_table_free(tables[i]);
}

struct gt_table *gt_serve_sweep_table(void)
{
    static const struct gt_column columns[] = {
        { "policy", GT_COLUMN_TEXT },          { "load", GT_COLUMN_NUMBER },     { "tenant", GT_COLUMN_TEXT },
        { "class", GT_COLUMN_TEXT },           { "requests", GT_COLUMN_NUMBER }, { "per_s", GT_COLUMN_NUMBER },
        { "p50_us", GT_COLUMN_TIME },          { "p99_us", GT_COLUMN_TIME },     { "max_us", GT_COLUMN_TIME },
        { "in_time_per_s", GT_COLUMN_NUMBER },
    };

    return gt_table_new("sweep", columns, sizeof columns / sizeof *columns);
}

void gt_serve_sweep_add(struct gt_table *table, const struct gt_serve_result *result)
{
    const struct gt_serve_load *serve = result->serve;

    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        const struct gt_tenant *tenant = &serve->load.tenants[i];
        const struct gt_tenant_result *own = &result->tenants[i];

        gt_table_text(table, serve->policy);
        gt_table_real(table, isnan(serve->file.tenants[i].load) ? NAN : serve->file.tenants[i].load, 2);
        gt_table_text(table, tenant->name);
        gt_table_text(table, class_of(tenant));
        gt_table_integer(table, (int64_t)own->count);
        gt_table_real(table, gt_serve_rate(own, own->count), 1);
        gt_table_real(table, gt_serve_percentile_us(own, 50), 1);
        gt_table_real(table, gt_serve_percentile_us(own, 99), 1);
        gt_table_real(table, gt_serve_percentile_us(own, 100), 1);
        gt_table_real(table, good_rate(tenant, own), 1);
    }
}

struct gt_table *gt_serve_saturation_table(void)
{
    static const struct gt_column columns[] = {
        { "policy", GT_COLUMN_TEXT },        { "load", GT_COLUMN_NUMBER },       { "tenant", GT_COLUMN_TEXT },
        { "alone_per_s", GT_COLUMN_NUMBER }, { "most_per_s", GT_COLUMN_NUMBER },
    };

    return gt_table_new("saturation", columns, sizeof columns / sizeof *columns);
}

void gt_serve_saturation_add(struct gt_table *table, const struct gt_serve_result *result, uint32_t tenant)
{
    const struct gt_tenant *own = &result->serve->load.tenants[tenant];

    gt_table_text(table, result->serve->policy);
    gt_table_real(table, result->serve->file.tenants[tenant].load, 2);
    gt_table_text(table, own->name);
    gt_table_real(table, own->alone_ps > 0 ? own->workers * 1e12 / (double)own->alone_ps : NAN, 1);
    gt_table_real(table, gt_serve_rate(&result->tenants[tenant], result->tenants[tenant].count), 1);
}
