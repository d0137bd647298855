/* Kernels that the policy holds back, and lets go. */
#include "sim/base/array.h"
#include "sim/gpu/grid.h"
#include "sim/gpu/grid_reset.h"
#include "sim/gpu/work_distributor.h"
#include "sim/serve/serving.h"
#include "sim/workload/program.h"

static const struct gt_worker *worker_of_op(const struct gt_requests *r, gt_op_index op)
{
    return &r->workers[r->worker_of[r->workload->calls[r->workload->ops[op].call].thread]];
}

/* As Orion has it: more than so much of the memory's rate. */
static const double memory_bound_part = 0.6;

static bool is_memory_bound(const struct gt_device *device, const struct gt_profile *profile)
{
    double seconds = (double)profile->cycles / profile->sm_hz;
    double bytes = (double)(profile->use.dram_read_bytes + profile->use.dram_write_bytes);

    return bytes > memory_bound_part * device->warp.dram_gbps * 1e9 * seconds;
}

static struct gt_policy_kernel kernel_of(const struct gt_requests *r, gt_op_index op)
{
    const struct gt_kernel *kernel = &r->workload->kernels[r->workload->ops[op].kernel];
    const struct gt_profile *profile = gt_workload_profile(r->workload, op);
    struct gt_policy_kernel view = { .tenant = worker_of_op(r, op)->tenant, .sms = r->m->device->sms };
    struct gt_occupancy occupancy;

    if (gt_occupancy_of(r->m->device, kernel, &occupancy, NULL) == 0) {
        uint64_t sms = (gt_kernel_blocks(kernel) + occupancy.blocks_per_sm - 1) / occupancy.blocks_per_sm;

        view.sms = sms < view.sms ? (uint32_t)sms : view.sms;
    }
    view.duration_ps = r->alone_ps != NULL ? r->alone_ps[op] : 0;
    view.profiled = profile != NULL && profile->cycles > 0 && profile->sm_hz > 0;
    if (view.profiled)
        view.memory_bound = is_memory_bound(r->m->device, profile);
    return view;
}

static bool asks(const struct gt_requests *r, gt_op_index op)
{
    return r->load->policy->may_launch != NULL && r->workload->ops[op].kind == GT_OP_KERNEL;
}

static bool resets(const struct gt_requests *r)
{
    return r->load->policy->reset_parameter >= 0;
}

static void count(struct gt_requests *r, gt_command_index command, const struct gt_policy_kernel *kernel)
{
    bool critical = r->load->tenants[kernel->tenant].critical;
    gt_op_index op = r->m->commands[command].index;

    r->launched[op] = true;
    r->commands[op] = command;
    if (critical) {
        r->view.critical_kernels++;
        r->view.latest_critical = *kernel;
    } else {
        r->view.best_effort_kernels++;
        r->view.best_effort_ps += kernel->duration_ps;
    }
}

static void uncount(struct gt_requests *r, gt_op_index op)
{
    r->launched[op] = false;
    if (r->load->tenants[worker_of_op(r, op)->tenant].critical) {
        r->view.critical_kernels--;
        return;
    }
    r->view.best_effort_kernels--;
    r->view.best_effort_ps -= r->alone_ps != NULL ? r->alone_ps[op] : 0;
    r->freed_ps = r->m->engine.now_ps;
}

/* From the policy's answer until the kernel may start: it is launched only then. */
static gt_time_ps launch_ps(const struct gt_requests *r)
{
    return r->m->device->launch_call_ps + r->m->device->launch_latency_ps;
}

/* From a kernel's end until the dispatcher, which asks for it again and again, knows. */
static gt_time_ps notice_ps(const struct gt_requests *r)
{
    return r->m->device->sync_return_ps;
}

static void hold(struct gt_requests *r, gt_command_index command)
{
    gt_array_grow(r->held, r->held_count, r->held_room);
    r->held[r->held_count++] = (struct gt_held_kernel){ command, r->m->engine.now_ps };
}

void gt_requests_kernel_start(struct gt_machine *m, gt_command_index command)
{
    struct gt_requests *r = m->requests;
    gt_op_index op = m->commands[command].index;
    struct gt_policy_kernel kernel;

    if (!asks(r, op)) {
        gt_kernel_start(m, command);
        return;
    }
    kernel = kernel_of(r, op);
    if (!r->load->policy->may_launch(&r->view, &kernel)) {
        hold(r, command);
        return;
    }
    count(r, command, &kernel);
    /* One that was asked for while another was on the GPU that it had to wait for is launched behind that one's end. */
    if (!resets(r) && !r->load->tenants[kernel.tenant].critical && m->commands[command].submit_ps < r->freed_ps) {
        gt_time_ps from_ps = r->freed_ps + notice_ps(r) + launch_ps(r);

        if (from_ps > m->engine.now_ps) {
            r->op_held_ps[op] += from_ps - m->engine.now_ps;
            gt_engine_schedule(&m->engine, from_ps, GT_PHASE_WAKE, GT_HANDLE_REQUEST, command, GT_REQUEST_LAUNCH);
            return;
        }
    }
    gt_kernel_start(m, command);
}

void gt_dispatcher_ask_again(struct gt_requests *r)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->held_count; i++) {
        struct gt_held_kernel held = r->held[i];
        gt_op_index op = r->m->commands[held.command].index;
        struct gt_policy_kernel kernel = kernel_of(r, op);
        gt_time_ps from_ps =
            r->m->engine.now_ps + launch_ps(r) + (r->freed_ps == r->m->engine.now_ps ? notice_ps(r) : 0);

        if (!r->load->policy->may_launch(&r->view, &kernel)) {
            r->held[kept++] = held;
            continue;
        }
        count(r, held.command, &kernel);
        r->op_held_ps[op] += from_ps - held.since_ps;
        gt_engine_schedule(&r->m->engine, from_ps, GT_PHASE_WAKE, GT_HANDLE_REQUEST, held.command, GT_REQUEST_LAUNCH);
    }
    r->held_count = kept;
}

void gt_dispatcher_launch(struct gt_requests *r, gt_command_index command)
{
    gt_op_index op = r->m->commands[command].index;

    if (resets(r) && r->view.critical > 0 && !r->load->tenants[worker_of_op(r, op)->tenant].critical) {
        uncount(r, op);
        hold(r, command);
    } else {
        gt_kernel_start(r->m, command);
    }
}

void gt_dispatcher_reset(struct gt_requests *r)
{
    for (uint32_t worker = 0; worker < r->worker_count; worker++) {
        if (r->load->tenants[r->workers[worker].tenant].critical)
            continue;
        for (uint32_t i = r->first_op[worker]; i < r->first_op[worker + 1]; i++) {
            gt_op_index op = r->ops_list[i];

            if (!r->launched[op] || !gt_grid_reset(r->m, r->commands[op]))
                continue;
            uncount(r, op);
            hold(r, r->commands[op]);
        }
    }
    for (gt_gpu_index gpu = 0; gpu < r->m->gpu_count; gpu++)
        gt_distributor_resume(r->m, gpu);
}

void gt_dispatcher_ended(struct gt_requests *r, gt_op_index op)
{
    if (!r->launched[op])
        return;
    uncount(r, op);
    if (r->held_count > 0)
        gt_requests_ask_soon(r);
}
