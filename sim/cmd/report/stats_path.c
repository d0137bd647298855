#include "sim/cmd/report/stats_path.h"

#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/base/sort.h"

/* First pass: the longest so far, the shortest and latest of them on top of the heap.
 * Second pass: what became of them, in order of time. */
struct longest {
    struct gt_heap heap;
    uint64_t most, seen;
    uint64_t *kept, kept_next; /* their numbers along the path, ascending */
    struct gt_table *table;
};

static int choose(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    struct longest *longest = user;

    (void)error;
    gt_heap_push(&longest->heap, (struct gt_heap_event){ .time_ps = segment->to_ps - segment->from_ps,
                                                         .order = UINT64_MAX - longest->seen,
                                                         .stamp = longest->seen });
    if (longest->heap.count > longest->most)
        gt_heap_pop(&longest->heap);
    longest->seen++;
    return 0;
}

static void add_number(struct gt_table *table, int64_t number)
{
    if (number < 0)
        gt_table_text(table, NULL);
    else
        gt_table_integer(table, number);
}

static int add_chosen(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    struct longest *longest = user;

    (void)error;
    if (longest->kept_next == longest->heap.count || longest->seen++ != longest->kept[longest->kept_next])
        return 0;
    longest->kept_next++;
    gt_table_text(longest->table, gt_path_kind_names[segment->kind]);
    gt_table_text(longest->table, segment->name[0] != '\0' ? segment->name : NULL);
    add_number(longest->table, segment->op);
    add_number(longest->table, segment->call);
    gt_table_real(longest->table, (double)segment->from_ps / 1e6, 3);
    gt_table_real(longest->table, (double)segment->to_ps / 1e6, 3);
    gt_table_real(longest->table, (double)(segment->to_ps - segment->from_ps) / 1e6, 3);
    return 0;
}

struct gt_table *gt_stats_segments_table(struct gt_stats *stats, uint64_t most, struct gt_error *error)
{
    static const struct gt_column columns[] = { { "kind", GT_COLUMN_TEXT },        { "name", GT_COLUMN_NAME },
                                                { "operation", GT_COLUMN_NUMBER }, { "call", GT_COLUMN_NUMBER },
                                                { "from_us", GT_COLUMN_TIME },     { "to_us", GT_COLUMN_TIME },
                                                { "time_us", GT_COLUMN_TIME } };
    struct longest longest = { .most = most };
    int result = gt_stats_path(stats, choose, &longest, error);

    longest.table = gt_table_new("critical_path_segments", columns, sizeof columns / sizeof columns[0]);
    longest.kept = gt_calloc(longest.heap.count + 1, sizeof *longest.kept);
    for (size_t i = 0; i < longest.heap.count; i++)
        longest.kept[i] = longest.heap.events[i].stamp;
    qsort(longest.kept, longest.heap.count, sizeof *longest.kept, gt_by_u64);
    longest.seen = 0;
    if (result == 0)
        result = gt_stats_path(stats, add_chosen, &longest, error);
    gt_heap_free(&longest.heap);
    free(longest.kept);
    if (result != 0) {
        gt_table_free(longest.table);
        return NULL;
    }
    return longest.table;
}
