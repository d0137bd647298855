#include "plots/page/parts.h"

#include <stdlib.h>
#include <string.h>

#include "traces/names/short_name.h"

enum { NAME_COLUMNS = 80 };

static void add(struct gt_page_names *names, const char *name)
{
    names->names[names->count++] = name;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

struct gt_page_names gt_page_names_of(const struct gt_view *view)
{
    const struct gt_stats *stats = view->subject->stats;
    struct gt_page_names names = { .count = 0 };
    size_t room = GT_PAGE_LAUNCHES + GT_PAGE_KERNEL_ROWS + GT_PAGE_PATH_PARTS, kept = 0;

    names.names = gt_calloc(room, sizeof *names.names);
    names.shorts = gt_calloc(room, sizeof *names.shorts);
    for (uint32_t i = 0; i < view->kernels.count && i < GT_PAGE_LAUNCHES; i++)
        add(&names, view->kernels.rows[i].name);
    for (size_t i = 0; i < stats->kernel_count && i < GT_PAGE_KERNEL_ROWS; i++)
        add(&names, stats->kernels[i].name);
    for (size_t i = 0; i < stats->path_count && i < GT_PAGE_PATH_PARTS; i++)
        add(&names, stats->path[i].name);
    qsort(names.names, names.count, sizeof *names.names, by_text);
    for (size_t i = 0; i < names.count; i++)
        if (kept == 0 || strcmp(names.names[kept - 1], names.names[i]) != 0)
            names.names[kept++] = names.names[i];
    names.count = kept;
    gt_short_names_unique(names.names, names.shorts, names.count, NAME_COLUMNS);
    return names;
}

void gt_page_names_free(struct gt_page_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->shorts[i]);
    free(names->shorts);
    free(names->names);
}

const char *gt_page_short_name(const struct gt_page_names *names, const char *name)
{
    const char **found = bsearch(&name, names->names, names->count, sizeof *names->names, by_text);

    return found != NULL ? names->shorts[found - names->names] : name;
}
