#include "sim/check/witness.h"

#include <stdlib.h>

#include "sim/baseline/stated.h"
#include "sim/baseline/timeline.h"
#include "sim/simulate.h"

enum { MOST_CONNECTIONS = 128 };

/* Of kernels of which nothing says how long they take. */
static const gt_time_ps made_up_ps = 10 * UINT64_C(1000000);
/* Later than the run's end by this. */
static const gt_time_ps beyond_ps = 100 * UINT64_C(1000000);

struct gt_witness {
    struct gt_stated stated;
    struct gt_device device;
    struct gt_options options;
    gt_time_ps late_ps;
};

static void make_up_times(struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->kernel_count; i++) {
        struct gt_kernel *kernel = &w->kernels[i];

        if (kernel->cost == GT_COST_NONE && kernel->duration_ps == GT_TIME_NONE && kernel->tasks == NULL)
            kernel->duration_ps = made_up_ps;
    }
}

struct gt_witness *gt_witness_new(const struct gt_workload *workload, const struct gt_device *device,
                                  struct gt_error *error)
{
    struct gt_witness *witness = gt_calloc(1, sizeof *witness);
    struct gt_timeline timeline;

    witness->device = *device;
    witness->device.connections = MOST_CONNECTIONS;
    witness->options = (struct gt_options)GT_OPTIONS_DEFAULT;
    gt_state(&witness->stated, workload, &witness->device, &witness->options);
    witness->options.learned = &witness->stated.learned;
    make_up_times(witness->stated.workload);
    if (gt_timeline_play(&timeline, witness->stated.workload, &witness->device, &witness->options, NULL, error) !=
        0) {
        gt_witness_free(witness);
        return NULL;
    }
    witness->late_ps = timeline.end_ps - timeline.first_ps + beyond_ps;
    gt_timeline_free(&timeline);
    return witness;
}

void gt_witness_free(struct gt_witness *witness)
{
    if (witness == NULL)
        return;
    gt_workload_free(witness->stated.workload);
    free(witness);
}

int gt_witness_show(struct gt_witness *witness, const struct gt_race *race, struct gt_schedule *schedule,
                    struct gt_error *error)
{
    struct gt_workload *w = witness->stated.workload;
    struct gt_op *first = &w->ops[race->first];
    struct gt_op kept = *first;
    struct gt_timeline timeline;
    int result;

    if (w->calls[first->call].kind == GT_CALL_GRAPH_LAUNCH)
        first->gap_ps = witness->late_ps;
    else
        first->visible_ps = witness->late_ps;
    result = gt_timeline_play(&timeline, w, &witness->device, &witness->options, NULL, error);
    *first = kept;
    if (result != 0)
        return -1;
    *schedule = (struct gt_schedule){
        .late_ps = witness->late_ps,
        .first_start_ps = timeline.ops[race->first].start_ps - timeline.first_ps,
        .first_end_ps = timeline.ops[race->first].end_ps - timeline.first_ps,
        .second_start_ps = timeline.ops[race->second].start_ps - timeline.first_ps,
        .second_end_ps = timeline.ops[race->second].end_ps - timeline.first_ps,
    };
    gt_timeline_free(&timeline);
    return schedule->second_start_ps < schedule->first_end_ps;
}
