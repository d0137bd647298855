/* explain_kernels.c - `gridtide explain`: kernels by family and by name, what bounds them, how far from the roofline they are. */
#include <math.h>
#include <stdlib.h>

#include "sim/cmd/report/explain_parts.h"
#include "traces/explain/families.h"

enum { PLACE_BYTES = 400, KERNELS = 10 };

static double part_pct(gt_time_ps part_ps, gt_time_ps whole_ps)
{
    return whole_ps > 0 ? 100 * (double)part_ps / (double)whole_ps : NAN;
}

/* Of the launches whose work is known: 10^12 operations, 10^9 bytes a second, the part of the roofline. */
static void put_work(struct gt_table *table, const struct gt_kernel_times *times)
{
    double ps = times->work_ps > 0 ? (double)times->work_ps : NAN;

    gt_table_real(table, times->flops > 0 ? times->flops / ps : NAN, 3);
    gt_table_real(table, times->bytes / ps * 1e3, 1);
    gt_table_real(table, times->work_ps > 0 ? 100 * gt_roofline_part(times) : NAN, 1);
}

struct gt_table *gt_explain_families_table(const struct gt_loaded_run *t)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "family", GT_COLUMN_TEXT }, { "kernels", GT_COLUMN_NUMBER }, { "time_us", GT_COLUMN_TIME },
        { "time_pct", GT_COLUMN_NUMBER }, { "bound", GT_COLUMN_TEXT }, { "bound_pct", GT_COLUMN_NUMBER },
        { "roofline_pct", GT_COLUMN_NUMBER }, { "known_pct", GT_COLUMN_NUMBER }, { "longest", GT_COLUMN_WIDE },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("kernel_families", columns, sizeof columns / sizeof columns[0]);
    struct gt_family_time families[GT_FAMILIES];
    size_t count = gt_family_times(t, families);
    char text[PLACE_BYTES];

    for (size_t i = 0; i < count; i++) {
        const struct gt_kernel_times *times = &families[i].times;
        enum gt_kernel_bound bound = gt_most_bound(times);

        gt_table_text(table, gt_kernel_family_names[families[i].family]);
        gt_table_integer(table, (int64_t)times->launches);
        gt_table_real(table, (double)times->time_ps / 1e6, 3);
        gt_table_real(table, 100 * times->share, 1);
        gt_table_text(table, gt_kernel_bound_names[bound]);
        gt_table_real(table, part_pct(times->bound_ps[bound], times->time_ps), 1);
        gt_table_real(table, 100 * gt_roofline_part(times), 1);
        gt_table_real(table, part_pct(times->known_ps, times->time_ps), 1);
        gt_loaded_op_place(t, times->longest, text, sizeof text);
        gt_table_text(table, text);
    }
    return table;
}

/* What is to know of a row of the table. */
static const char *note_on(const struct gt_kernel_times *times)
{
    if (times->known_ps == 0)
        return "work unknown";
    if (times->work_ps == 0)
        return "helper";
    return times->unless_causal ? "if not causal" : NULL;
}

struct gt_table *gt_explain_kernels_table(const struct gt_loaded_run *t, const struct gt_explain_request *request)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "family", GT_COLUMN_TEXT }, { "launches", GT_COLUMN_NUMBER }, { "time_us", GT_COLUMN_TIME },
        { "time_pct", GT_COLUMN_NUMBER }, { "bound", GT_COLUMN_TEXT }, { "tflops", GT_COLUMN_NUMBER },
        { "gbps", GT_COLUMN_NUMBER }, { "roofline_pct", GT_COLUMN_NUMBER }, { "note", GT_COLUMN_TEXT }, { "kernel", GT_COLUMN_NAME },
        /* for programs */
        { "known_pct", GT_COLUMN_NUMBER }, { "precision", GT_COLUMN_TEXT }, { "flops", GT_COLUMN_NUMBER },
        { "bytes", GT_COLUMN_NUMBER }, { "least_us", GT_COLUMN_TIME },
    };
    /* clang-format on */
    enum { FOR_PEOPLE = 10, ALL = sizeof columns / sizeof columns[0] };
    bool people = request->format == GT_FORMAT_TABLE;
    struct gt_table *table = gt_table_new("kernels", columns, people ? FOR_PEOPLE : ALL);
    size_t count, most = people && !request->top_given ? KERNELS : request->top;
    struct gt_name_time *names = gt_name_times(t, &count);

    for (size_t i = 0; i < count && i < most; i++) {
        const struct gt_kernel_times *times = &names[i].times;
        bool known = times->work_ps > 0;

        gt_table_text(table, gt_kernel_family_names[names[i].family]);
        gt_table_integer(table, (int64_t)times->launches);
        gt_table_real(table, (double)times->time_ps / 1e6, 3);
        gt_table_real(table, 100 * times->share, 1);
        gt_table_text(table, gt_kernel_bound_names[gt_most_bound(times)]);
        put_work(table, times);
        gt_table_text(table, note_on(times));
        gt_table_text(table, names[i].name);
        if (people)
            continue;
        gt_table_real(table, part_pct(times->known_ps, times->time_ps), 1);
        gt_table_text(table, known ? gt_precision_names[times->precision] : NULL);
        gt_table_real(table, known ? times->flops : NAN, 0);
        gt_table_real(table, known ? times->bytes : NAN, 0);
        gt_table_real(table, known ? times->least_us : NAN, 3);
    }
    free(names);
    return table;
}
