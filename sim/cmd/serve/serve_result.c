#include "sim/cmd/serve/serve_result.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

/* A part that is less than this of a request's latency does not make it late. */
static const double least_part = 0.1;

static struct gt_late_cause cause_of(const struct gt_request_record *record)
{
    gt_time_ps latency_ps = record->end_ps - record->arrival_ps;
    struct gt_late_cause cause = { GT_CAUSE_OWN, UINT8_MAX };
    double most_ps = least_part * (double)latency_ps;

    for (int part = 0; part < GT_PARTS; part++) {
        if ((double)record->part_ps[part] <= most_ps)
            continue;
        most_ps = (double)record->part_ps[part];
        cause.cause = (uint8_t)part;
    }
    if (cause.cause == GT_PART_WAITED && record->blocker != GT_NONE)
        cause.blocker = (uint8_t)record->blocker;
    return cause;
}

static void add(struct gt_tenant_result *to, const struct gt_request_record *record)
{
    if (to->count == to->room) {
        to->room = gt_array_next_room(to->room, UINT64_MAX);
        to->latency_ps = gt_realloc(to->latency_ps, to->room, sizeof *to->latency_ps);
        to->cause = gt_realloc(to->cause, to->room, sizeof *to->cause);
    }
    to->latency_ps[to->count] = record->end_ps - record->arrival_ps;
    to->cause[to->count++] = cause_of(record);
}

int gt_serve_result_take(void *user, const struct gt_request_record *record, struct gt_error *error)
{
    struct gt_serve_result *result = user;
    struct gt_tenant_result *to = &result->tenants[record->tenant];
    const struct gt_tenant *tenant = &result->serve->load.tenants[record->tenant];

    (void)error;
    if (record->number < result->serve->load.warm_up)
        return 0;
    if (to->count == 0 || record->arrival_ps < to->first_ps)
        to->first_ps = record->arrival_ps;
    if (record->end_ps > to->last_ps)
        to->last_ps = record->end_ps;
    add(to, record);
    for (int part = 0; part < GT_PARTS; part++)
        to->part_ps[part] += (double)record->part_ps[part];
    to->run_ps += (double)(record->end_ps - record->begin_ps);
    to->late += tenant->deadline_ps != GT_TIME_NONE && record->end_ps - record->arrival_ps > tenant->deadline_ps;
    return 0;
}

void gt_serve_result_finish(struct gt_serve_result *result)
{
    for (uint32_t i = 0; i < result->serve->load.tenant_count; i++) {
        struct gt_tenant_result *tenant = &result->tenants[i];

        tenant->sorted_us = gt_calloc(tenant->count + 1, sizeof *tenant->sorted_us);
        for (uint64_t j = 0; j < tenant->count; j++)
            tenant->sorted_us[j] = (double)tenant->latency_ps[j] / 1e6;
        qsort(tenant->sorted_us, tenant->count, sizeof *tenant->sorted_us, gt_by_double);
    }
}

void gt_serve_result_free(struct gt_serve_result *result)
{
    for (uint32_t i = 0; i < GT_LOAD_TENANTS_MAX; i++) {
        free(result->tenants[i].latency_ps);
        free(result->tenants[i].cause);
        free(result->tenants[i].sorted_us);
    }
}

double gt_serve_percentile_us(const struct gt_tenant_result *tenant, unsigned percent)
{
    return gt_percentile(tenant->sorted_us, tenant->count, percent);
}

double gt_serve_rate(const struct gt_tenant_result *tenant, uint64_t requests)
{
    return tenant->last_ps > tenant->first_ps
               ? (double)requests / ((double)(tenant->last_ps - tenant->first_ps) / 1e12)
               : NAN;
}

bool gt_serve_is_late(const struct gt_tenant *tenant, const struct gt_tenant_result *result, gt_time_ps latency_ps)
{
    if (tenant->deadline_ps != GT_TIME_NONE)
        return latency_ps > tenant->deadline_ps;
    return (double)latency_ps / 1e6 > gt_serve_percentile_us(result, 99);
}
