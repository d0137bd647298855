/* How far a run's kernels are from what the device could do: one finding, where the work of most of their time is known. */
#include <stdio.h>

#include "traces/explain/families.h"
#include "traces/explain/findings_parts.h"
#include "traces/names/clean_text.h"

enum { NAMED = 3, LIST_BYTES = 200 };

/* Families below this part of the kernels' time, and a distance of less than this part of it, are not worth a sentence. */
static const double least_share = 0.05;

/* "gemm at 56% (tensor cores), elementwise at 38% (DRAM)" */
static void list_families(const struct gt_family_time *families, size_t count, char *text, size_t bytes)
{
    size_t used = 0;
    int named = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && named < NAMED && used < bytes; i++) {
        const struct gt_kernel_times *times = &families[i].times;

        if (times->share < least_share || times->work_ps == 0)
            continue;
        used += (size_t)snprintf(text + used, bytes - used, "%s%s at %.0f%% (%s)", named++ > 0 ? ", " : "",
                                 gt_kernel_family_names[families[i].family], 100 * gt_roofline_part(times),
                                 gt_kernel_bound_names[gt_most_bound(times)]);
    }
}

void gt_findings_of_roofline(struct gt_finding_list *f)
{
    struct gt_family_time families[GT_FAMILIES];
    size_t count = gt_family_times(f->t, families);
    double all_ps = 0, known_ps = 0, least_ps = 0, compute_ps = (double)f->breakdown->ps[GT_TIME_COMPUTATION], away;
    struct gt_finding *finding;
    char list[LIST_BYTES];

    for (size_t i = 0; i < count; i++) {
        all_ps += (double)families[i].times.time_ps;
        known_ps += (double)families[i].times.known_ps;
        least_ps += families[i].times.least_us * 1e6;
    }
    list_families(families, count, list, sizeof list);
    away = all_ps > 0 ? (known_ps - least_ps) / all_ps : 0;
    if (2 * compute_ps < (double)f->breakdown->total_ps || 2 * known_ps < all_ps || away < least_share ||
        list[0] == '\0')
        return;
    finding =
        gt_finding_add(f, "roofline", (gt_time_ps)(away * compute_ps),
                       "few or uneven blocks, small sizes and scattered accesses keep kernels from the roofline; "
                       "fusion (torch.compile) removes work that DRAM bounds; --full lists the kernels",
                       NULL);
    finding->time_kind = GT_TIME_COMPUTATION;
    snprintf(
        finding->text, sizeof finding->text,
        "kernels run at %.0f%% of the roofline, by the inputs of the operators with %.0f%% of their time: %s; at "
        "the roofline they would take %s less",
        100 * least_ps / known_ps, 100 * known_ps / all_ps, list, gt_time_said(away * compute_ps).s);
}
