/* How many blocks each SM got, measured over simulated. */
#include <stdlib.h>

#include "plots/figures/figure.h"
#include "traces/store/placement.h"

enum { LEFT_PX = 90, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 260 };

struct counts {
    uint64_t *by_sm, most;
    uint32_t sms;
};

static int add_blocks(void *user, const struct gt_placement_row *row, struct gt_error *error)
{
    struct counts *counts = user;

    (void)error;
    for (uint32_t sm = 0; row->gpu == 0 && sm < row->sms; sm++) {
        if (sm == counts->sms) {
            counts->by_sm = gt_realloc(counts->by_sm, counts->sms + 1ull, sizeof *counts->by_sm);
            counts->by_sm[counts->sms++] = 0;
        }
        counts->by_sm[sm] += row->blocks[sm];
        if (counts->by_sm[sm] > counts->most)
            counts->most = counts->by_sm[sm];
    }
    return 0;
}

/* The blocks of all kernels of one run, by SM of the first GPU. */
static int count_blocks(const struct gt_view *view, const struct gt_side *side, struct counts *counts,
                        struct gt_error *error)
{
    return gt_placement_each(view->database, side->stats->run.run_id, add_blocks, counts, error);
}

static int write_bars(const struct gt_view *view, const struct counts *measured, const struct counts *simulated,
                      struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "bars.tsv", error);
    uint32_t sms = measured->sms > simulated->sms ? measured->sms : simulated->sms;

    if (out == NULL)
        return -1;
    for (uint32_t sm = 0; sm < sms; sm++)
        fprintf(out, "%u\t%llu\t%llu\n", sm, sm < measured->sms ? (unsigned long long)measured->by_sm[sm] : 0,
                sm < simulated->sms ? (unsigned long long)simulated->by_sm[sm] : 0);
    gt_figure_sides(view, drawing);
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "sms = %u\nmost = %.9g\n", sms,
            gt_figure_top((double)(measured->most > simulated->most ? measured->most : simulated->most)));
    snprintf(drawing->alt, sizeof drawing->alt, "Blocks of each of %u SMs, %s above and %s below.", sms,
             view->beside->label, view->subject->label);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Number of blocks per SM over the whole run, %s upwards, %s downwards. Measured runs differ from each "
             "other, too; the comparison states by how much.",
             view->beside->label, view->subject->label);
    return gt_folder_close(drawing->folder, out, error) == 0 ? 1 : -1;
}

gt_prepare_fn gt_prepare_placement;
int gt_prepare_placement(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct counts measured = { NULL, 0, 0 }, simulated = { NULL, 0, 0 };
    int result = 0;

    if (view->measured != NULL && (count_blocks(view, view->measured, &measured, error) != 0 ||
                                   count_blocks(view, view->subject, &simulated, error) != 0))
        result = -1;
    if (result == 0 && measured.most > 0 && simulated.most > 0)
        result = write_bars(view, &measured, &simulated, drawing, error);
    free(measured.by_sm);
    free(simulated.by_sm);
    return result;
}
