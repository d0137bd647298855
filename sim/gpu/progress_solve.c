/* progress_solve.c - the rates of a GPU's groups: who wants what is put to sim/base/fair_share.h, whose answer they
 * are.
 *
 * SMs that hold the same blocks of the same grids are one kind, and their groups of one grid one consumer, so
 * the problem stays small however many SMs there are. */
#include "sim/gpu/progress_solve.h"

#include <math.h>

#include "sim/gpu/progress_limit.h"
#include "sim/gpu/task_events.h"
#include "sim/tasks/tasks.h"

/* What asks for nothing asks for this much: it has its limit at once. */
#define LEAST_PART 1e-9

double gt_progress_dram_left(const struct gt_machine *m, const struct gt_gpu_state *gpu)
{
    double taken_gbps = gpu->collective_gbps + (gpu->copies_within > 0 ? 2 * m->device->d2d.gbps : 0);

    for (int i = 0; i < GT_ENGINES; i++) {
        const struct gt_engine_state *engine = &gpu->engines[i];

        if (engine->running == GT_NONE)
            continue;
        const struct gt_op *op = &m->workload->ops[m->commands[engine->running].index];
        taken_gbps += op->direction == GT_D2D ? 2 * m->device->d2d.gbps : engine->rate * engine->demand_gbps;
    }
    return fmax(m->device->warp.dram_least_part, 1 - taken_gbps / m->device->warp.dram_gbps);
}

static bool same_groups(const struct gt_machine *m, uint32_t a, uint32_t b)
{
    for (; a != GT_NONE && b != GT_NONE; a = m->groups[a].next, b = m->groups[b].next)
        if (m->groups[a].grid != m->groups[b].grid || m->groups[a].blocks != m->groups[b].blocks ||
            m->groups[a].turn != m->groups[b].turn)
            return false;
    return a == b;
}

/* Sort the SMs with groups into kinds; returns how many. */
static uint32_t sort_sms(struct gt_machine *m, const struct gt_gpu_state *gpu)
{
    uint32_t count = 0;

    if (m->sm_kinds == NULL) {
        m->sm_kinds = gt_calloc(m->device->sms, sizeof *m->sm_kinds);
        m->kind_of_sm = gt_calloc(m->device->sms, sizeof *m->kind_of_sm);
    }
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        uint32_t k = 0;

        if (gpu->groups[sm] == GT_NONE)
            continue;
        gt_progress_turns(m, gpu->groups[sm]);
        while (k < count && !same_groups(m, gpu->groups[m->sm_kinds[k].sm], gpu->groups[sm]))
            k++;
        if (k == count)
            m->sm_kinds[count++] = (struct gt_sm_kind){ .sm = sm };
        m->sm_kinds[k].sms++;
        m->kind_of_sm[sm] = k;
    }
    return count;
}

/* Resources of the GPU come first, in their order; an atomic's L2 slice is each grid's own. */
static void add_gpu_resources(struct gt_machine *m, const struct gt_gpu_state *gpu)
{
    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCE_ATOMIC; r++)
        gt_maxmin_add_resource(&m->maxmin, r == GT_RESOURCE_DRAM ? gt_progress_dram_left(m, gpu) : 1);
    for (gt_grid_index grid = gpu->demanding; grid != GT_NONE; grid = m->grids[grid].next_demanding)
        m->grids[grid].atomic_resource = gt_maxmin_add_resource(&m->maxmin, 1);
}

/* Those of an SM of which several groups want a part; what one group takes from itself is in its limit. */
static void add_sm_resources(struct gt_machine *m, gt_group_index first, uint32_t *resources)
{
    for (uint32_t r = 0; r < GT_SM_RESOURCES; r++) {
        uint32_t wanted = 0;

        for (gt_group_index group = first; group != GT_NONE; group = m->groups[group].next)
            wanted += m->grids[m->groups[group].grid].demand->amount[r] > 0;
        resources[r] = wanted > 1 && !gt_progress_by_turns(r) ? gt_maxmin_add_resource(&m->maxmin, 1) : GT_NONE;
    }
}

/* The largest part that a block takes of anything at rate 1: of its SM's, or its SM's part of the GPU's.  Of DRAM
 * reads count, or writes, whichever are more: SMs are served alike in each. */
static double largest_part(const struct gt_machine *m, const struct gt_demand *demand)
{
    double largest = LEAST_PART;

    for (uint32_t r = 0; r < GT_RESOURCES; r++)
        largest = fmax(largest, demand->amount[r] * (r < GT_SM_RESOURCES ? 1 : m->device->sms) *
                                    (r == GT_RESOURCE_DRAM ? 1 - demand->mixed / 2 : 1));
    return largest;
}

/* The groups of a kind of SM. */
static void add_consumers(struct gt_machine *m, const struct gt_gpu_state *gpu, struct gt_sm_kind *kind)
{
    uint32_t resources[GT_SM_RESOURCES], first = gpu->groups[kind->sm];

    add_sm_resources(m, first, resources);
    kind->first_consumer = m->maxmin.consumer_count;
    for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next) {
        const struct gt_resident_group *group = &m->groups[at];
        const struct gt_grid *grid = &m->grids[group->grid];
        const double *amount = grid->demand->amount;

        gt_maxmin_add_consumer(&m->maxmin, group->limit,
                               group->sm_part / (largest_part(m, grid->demand) * group->blocks));
        for (uint32_t r = 0; r < GT_SM_RESOURCES; r++)
            if (resources[r] != GT_NONE)
                gt_maxmin_add_demand(&m->maxmin, resources[r], amount[r] * group->blocks);
        for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCES; r++)
            gt_maxmin_add_demand(&m->maxmin, r == GT_RESOURCE_ATOMIC ? grid->atomic_resource : r - GT_SM_RESOURCES,
                                 amount[r] * group->blocks * kind->sms);
    }
}

/* Tasks that move bytes are one consumer: each of their SMs asks for as much of DRAM as others' do. */
static uint32_t add_tasks(struct gt_machine *m, struct gt_gpu_state *gpu, double *wanted)
{
    uint32_t sms = 0, consumer = m->maxmin.consumer_count;

    *wanted = gpu->tasks != NULL ? gt_tasks_memory_wanted(gpu->tasks, &sms) : 0;
    gpu->tasks_memory_sms = sms;
    if (*wanted <= 0)
        return GT_NONE;
    gt_maxmin_add_consumer(&m->maxmin, 1, sms / (*wanted * m->device->sms));
    gt_maxmin_add_demand(&m->maxmin, GT_RESOURCE_DRAM - GT_SM_RESOURCES, *wanted);
    return consumer;
}

/* What all these blocks together keep busy of DRAM, at the rates that they have now. */
static void note_memory(const struct gt_machine *m, struct gt_gpu_state *state)
{
    state->memory_busy = state->memory_mixed = 0;
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        for (gt_group_index at = state->groups[sm]; at != GT_NONE; at = m->groups[at].next) {
            const struct gt_demand *demand = m->grids[m->groups[at].grid].demand;
            double takes = demand->amount[GT_RESOURCE_DRAM] * m->groups[at].blocks * m->groups[at].rate;

            state->memory_busy += takes;
            state->memory_mixed += takes * demand->mixed;
        }
    }
}

void gt_progress_solve(struct gt_machine *m, gt_gpu_index gpu, gt_progress_setter *set)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    uint32_t kinds, tasks;
    double wanted;

    if (state->groups == NULL)
        return;
    kinds = sort_sms(m, state);
    gt_progress_limits(m, state, kinds);
    gt_maxmin_clear(&m->maxmin);
    add_gpu_resources(m, state);
    for (uint32_t k = 0; k < kinds; k++)
        add_consumers(m, state, &m->sm_kinds[k]);
    tasks = add_tasks(m, state, &wanted);
    gt_maxmin_solve(&m->maxmin);
    if (tasks != GT_NONE)
        gt_task_events_set_memory_part(m, gpu, m->maxmin.consumers[tasks].rate * wanted);
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        uint32_t consumer = m->sm_kinds[m->kind_of_sm[sm]].first_consumer;

        for (gt_group_index group = state->groups[sm]; group != GT_NONE; group = m->groups[group].next)
            set(m, group, m->maxmin.consumers[consumer++].rate);
    }
    note_memory(m, state);
}
