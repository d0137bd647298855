/* Runs of several GPUs: who waits for whom in collectives, and how much of them is hidden behind other work. */
#include <stdlib.h>

#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/explain/ranks.h"

static struct gt_text share_of(gt_time_ps part_ps, gt_time_ps whole_ps)
{
    return gt_share_text((double)part_ps / (whole_ps > 0 ? (double)whole_ps : 1));
}

static void write_rank(FILE *out, const struct gt_rank_waits *rank)
{
    gt_time_ps whole_ps = rank->hidden_ps + rank->exposed_ps;
    char *name = gt_format("GPU %u", rank->gpu);

    gt_page_name_cell(out, name, name);
    gt_page_cell(out, gt_count_text(rank->collectives));
    gt_page_cell(out, gt_count_text(rank->last));
    gt_page_cell(out, gt_time_text((double)rank->waited_ps));
    gt_page_cell(out, gt_time_text((double)rank->kept_ps));
    gt_page_cell(out, gt_time_text((double)rank->hidden_ps));
    gt_page_cell(out, gt_time_text((double)rank->exposed_ps));
    gt_page_cell(out, share_of(rank->hidden_ps, whole_ps));
    fputs("</tr>\n", out);
    free(name);
}

void gt_page_ranks(const struct gt_page *page)
{
    static const char *const heads[] = { "GPU",    "Collectives", "Was last",     "Waited", "Others waited",
                                         "Hidden", "Exposed",     "Hidden share", NULL };
    size_t count;
    struct gt_rank_waits *ranks = gt_rank_waits(page->view->subject->run, &count);

    if (count > 0) {
        gt_page_table_begin(page->out, "ranks", "Collectives, GPU by GPU",
                            "Collectives per GPU: how often this GPU was last, how long its collectives waited for "
                            "the last GPU, how long the others waited for this one; and for how much of the time "
                            "other work of the GPU ran (hidden) or none (exposed).",
                            heads);
        for (size_t i = 0; i < count; i++)
            write_rank(page->out, &ranks[i]);
        gt_page_table_end(page->out, "explain", count, count);
    }
    free(ranks);
}
