/* The errors of every trace, by family. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/data/suite_view.h"
#include "plots/figures/figure.h"
#include "traces/names/short_name.h"

enum { LEFT_PX = 170, TOP_PX = 30, AXIS_PX = 60, FAMILY_PX = 34, NAME_COLUMNS = 20, FAMILIES_MAX = 40 /* shown */ };

/* A trace's family: "copy/pinned-in" is of "copy"; those without a slash are the others. */
struct member {
    char *family;
    uint32_t row, number;
};

static int by_family(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = strcmp(a->family, b->family);

    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static int by_row(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    return (a->row > b->row) - (a->row < b->row);
}

static struct member *list_members(const struct gt_suite_view *suite)
{
    struct member *members = gt_calloc(suite->count, sizeof *members);

    for (uint32_t i = 0; i < suite->count; i++) {
        const char *name = suite->rows[i].name, *slash = strchr(name, '/');

        members[i].row = i;
        members[i].family = slash != NULL ? strndup(name, (size_t)(slash - name)) : strdup("others");
    }
    return members;
}

/* Number the families from 1 on, that of the worst trace first, and leave the members in the order of the
 * suite.  Returns how many families there are; heads[number - 1] is the name of each. */
static uint32_t number_families(struct member *members, uint32_t count, const char **heads)
{
    uint32_t *first = gt_calloc(count, sizeof *first), families = 0;

    qsort(members, count, sizeof *members, by_family);
    for (uint32_t i = 0; i < count; i++) /* the worst of each family stands first in it */
        first[members[i].row] = i > 0 && strcmp(members[i - 1].family, members[i].family) == 0
                                    ? first[members[i - 1].row]
                                    : members[i].row;
    qsort(members, count, sizeof *members, by_row);
    for (uint32_t i = 0; i < count; i++) {
        if (first[i] == i)
            heads[families++] = members[i].family;
        members[i].number = first[i] == i ? families : members[first[i]].number;
    }
    free(first);
    return families;
}

static int write_members(const struct gt_suite_view *suite, const struct member *members, char *const *names,
                         struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "errors.tsv", error);

    if (out == NULL)
        return -1;
    for (uint32_t i = 0; i < suite->count; i++) {
        if (members[i].number > FAMILIES_MAX)
            continue;
        fprintf(out, "%.9g\t%u\t", suite->rows[i].verdict.comparison.makespan_error_pct, members[i].number);
        gt_plot_field(out, names[members[i].number - 1]);
        fputc('\n', out);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void describe(const struct gt_suite_view *suite, uint32_t families, uint32_t shown, struct gt_drawing *drawing)
{
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, (shown + 1) * FAMILY_PX, AXIS_PX);
    fprintf(drawing->parameters, "families = %u\nlargest = %.9g\n", shown, fmax(2, suite->sums.error_max_pct * 1.3));
    snprintf(drawing->alt, sizeof drawing->alt, "Makespan errors of %u traces in %u families.", suite->count,
             families);
    if (shown < families)
        snprintf(drawing->caption, sizeof drawing->caption, "Of %u families, the %u with the worst traces are shown.",
                 families, shown);
}

gt_prepare_fn gt_prepare_families;
int gt_prepare_families(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_suite_view *suite = view->suite;
    struct member *members = list_members(suite);
    const char **heads = gt_calloc(suite->count, sizeof *heads);
    uint32_t families = number_families(members, suite->count, heads);
    uint32_t shown = families < FAMILIES_MAX ? families : FAMILIES_MAX;
    char *names[FAMILIES_MAX];
    int result = 0;

    if (families > 1 && families < suite->count) {
        gt_short_names_unique(heads, names, shown, NAME_COLUMNS);
        result = write_members(suite, members, names, drawing, error) == 0 ? 1 : -1;
        describe(suite, families, shown, drawing);
        for (uint32_t i = 0; i < shown; i++)
            free(names[i]);
    }
    for (uint32_t i = 0; i < suite->count; i++)
        free(members[i].family);
    free(members);
    free(heads);
    return result;
}
