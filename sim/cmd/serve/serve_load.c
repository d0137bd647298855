#include "sim/cmd/serve/serve_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/run_input.h"
#include "sim/cmd/input/shared_input.h"
#include "sim/cmd/serve/request_cut.h"
#include "sim/cmd/serve/serve_window.h"
#include "sim/serve/policy.h"
#include "sim/serve/requests.h"
#include "sim/serve/slices.h"
#include "traces/ranks/ranks.h"

static const char one_process[] = "streams"; /* all tenants are threads of one process */

/* The device of the load, else of the first trace that names one. */
static int choose_device(struct gt_serve_load *serve, struct gt_workload *const *traces, const char *name, bool quiet,
                         struct gt_error *error)
{
    const struct gt_workload *named = traces[0];

    for (uint32_t i = serve->file.tenant_count; i-- > 0;)
        if (traces[i]->device != NULL)
            named = traces[i];
    return gt_run_device(named, name != NULL ? name : serve->file.device, quiet, &serve->device, error);
}

/* What a tenant says of itself means something only where tenants are processes. */
static int check_share(const struct gt_serve_load *serve, const struct gt_load_tenant *tenant, bool overridden,
                       struct gt_error *error)
{
    struct gt_sharing sharing;

    if (tenant->share == NULL)
        return 0;
    if (gt_sharing_parse(tenant->share, strlen(tenant->share), &sharing, error) != 0)
        return gt_error_prefix(error, "tenant '%.60s': sharing: ", tenant->name);
    if (!overridden && serve->load.one_process)
        return gt_error_set(
            error, "tenant '%.60s' says how it shares, but all are threads of one process; say how the load shares",
            tenant->name);
    return 0;
}

static int choose_sharing(struct gt_serve_load *serve, const char *share, struct gt_error *error)
{
    const struct gt_load_file *file = &serve->file;

    serve->share = share != NULL ? share : file->share != NULL ? file->share : one_process;
    serve->load.one_process = strcmp(serve->share, one_process) == 0;
    memset(serve->sharings, 0, sizeof serve->sharings);
    for (uint32_t i = 0; i < file->tenant_count; i++)
        if (check_share(serve, &file->tenants[i], share != NULL, error) != 0)
            return -1;
    if (serve->load.one_process || strcmp(serve->share, GT_SHARE_RIGHT_SIZED) == 0)
        return 0;
    if (gt_sharing_parse_all(serve->share, serve->sharings, file->tenant_count, error) != 0)
        return gt_error_prefix(error, "sharing '%.60s' (or streams: one process): ", serve->share);
    for (uint32_t i = 0; i < file->tenant_count && share == NULL; i++)
        if (file->tenants[i].share != NULL)
            gt_sharing_parse(file->tenants[i].share, strlen(file->tenants[i].share), &serve->sharings[i], error);
    return 0;
}

/* The request of each tenant from its trace. */
static int cut_requests(struct gt_serve_load *serve, struct gt_workload *const *traces, struct gt_error *error)
{
    for (uint32_t i = 0; i < serve->file.tenant_count; i++) {
        const struct gt_load_tenant *said = &serve->file.tenants[i];
        struct gt_device recorded = serve->device;

        if (gt_run_traced_device(traces[i], &recorded, error) != 0)
            return -1;
        serve->load.tenants[i].request = gt_request_cut(traces[i], &recorded, said->range, error);
        if (serve->load.tenants[i].request == NULL)
            return gt_error_prefix(error, "%s: ", said->trace);
    }
    return 0;
}

static void take_tenants(struct gt_serve_load *serve)
{
    serve->load.tenants = gt_calloc(serve->file.tenant_count, sizeof *serve->load.tenants);
    serve->load.tenant_count = serve->file.tenant_count;
    serve->load.warm_up = serve->file.warm_up;
    for (uint32_t i = 0; i < serve->file.tenant_count; i++) {
        const struct gt_load_tenant *said = &serve->file.tenants[i];

        serve->load.tenants[i] = (struct gt_tenant){
            .name = said->name,
            .critical = said->critical,
            .deadline_ps = said->deadline_ps,
            .workers = said->workers,
            .arrivals = said->arrivals,
        };
    }
}

/* A device synchronisation, and a free, which is one too, wait for their worker's work alone: what is in its context (of which its
 * first stream is one).  With others of the process they would also wait for what a policy holds back. */
static void keep_syncs_apart(struct gt_workload *joined, const gt_stream_index *first_stream)
{
    for (gt_call_index i = 0; i < joined->call_count; i++) {
        struct gt_call *call = &joined->calls[i];

        if (call->stream != GT_NONE || (call->kind != GT_CALL_DEVICE_SYNC && call->kind != GT_CALL_FREE))
            continue;
        call->stream = first_stream[call->thread];
        call->kind = call->stream != GT_NONE ? GT_CALL_DEVICE_SYNC : GT_CALL_OTHER;
    }
}

/* Threads, streams and processes of the joined workload, worker by worker. */
static void set_processes(struct gt_workload *joined, const struct gt_load *load)
{
    gt_stream_index *first_stream = gt_calloc(joined->thread_count + 1ull, sizeof *first_stream), stream = 0;
    gt_thread_index thread = 0;
    uint32_t worker = 0;

    for (uint32_t t = 0; t < load->tenant_count; t++) {
        const struct gt_workload *request = load->tenants[t].request;

        for (uint32_t w = 0; w < load->tenants[t].workers; w++, worker++) {
            for (uint32_t i = 0; i < request->thread_count; i++, thread++) {
                joined->threads[thread].process = load->one_process ? 1 : t + 1;
                first_stream[thread] = request->stream_count > 0 ? stream : GT_NONE;
            }
            for (uint32_t i = 0; i < request->stream_count; i++, stream++) {
                joined->streams[stream].context = worker;
                if (load->policy->priorities)
                    joined->streams[stream].priority = load->tenants[t].critical ? INT16_MIN : INT16_MAX;
            }
        }
    }
    keep_syncs_apart(joined, first_stream);
    free(first_stream);
}

/* By operation of the joined workload: those of a worker stand in the order of its request's. */
static gt_time_ps *join_alone(const struct gt_serve_load *serve, const struct gt_workload *joined,
                              const struct gt_load *load, uint32_t first)
{
    gt_time_ps *alone_ps = gt_calloc(joined->op_count + 1ull, sizeof *alone_ps);
    uint32_t *worker_of = gt_calloc(joined->thread_count + 1ull, sizeof *worker_of);
    uint32_t *tenant_of = gt_calloc(joined->thread_count + 1ull, sizeof *tenant_of), workers = 0, *at;
    gt_thread_index thread = 0;

    for (uint32_t t = 0; t < load->tenant_count; t++)
        for (uint32_t w = 0; w < load->tenants[t].workers; w++, workers++)
            for (uint32_t i = 0; i < load->tenants[t].request->thread_count; i++, thread++) {
                worker_of[thread] = workers;
                tenant_of[thread] = first + t;
            }
    at = gt_calloc(workers, sizeof *at);
    for (gt_op_index i = 0; i < joined->op_count; i++) {
        thread = joined->calls[joined->ops[i].call].thread;
        alone_ps[i] = serve->alone_op_ps[tenant_of[thread]][at[worker_of[thread]]++];
    }
    free(worker_of);
    free(tenant_of);
    free(at);
    return alone_ps;
}

/* One workload of all workers of the load, whose tenants are the file's from `first` on; how long its operations take alone into
 * *alone_ps, malloced, unless that is NULL. */
static struct gt_workload *join(const struct gt_serve_load *serve, const struct gt_load *load, uint32_t first,
                                gt_time_ps **alone_ps, struct gt_error *error)
{
    struct gt_workload *requests[GT_LOAD_TENANTS_MAX * GT_LOAD_WORKERS_MAX], *joined;
    struct gt_sharing sharings[GT_LOAD_TENANTS_MAX * GT_LOAD_WORKERS_MAX];
    uint32_t count = 0;

    for (uint32_t t = 0; t < load->tenant_count; t++) {
        for (uint32_t w = 0; w < load->tenants[t].workers; w++) {
            sharings[count] = serve->sharings[first + t];
            requests[count++] = load->tenants[t].request;
        }
    }
    joined = gt_programs_join(requests, sharings, count, error);
    if (joined == NULL)
        return NULL;
    set_processes(joined, load);
    if (alone_ps != NULL)
        *alone_ps = join_alone(serve, joined, load, first);
    return joined;
}

/* Kernels take their programs from the profiles given; how long these last, and what they ask of memory, into *modelled. */
static int attach_programs(const struct gt_serve_load *serve, struct gt_workload *joined, bool quiet,
                           struct gt_kernel_model **modelled, struct gt_error *error)
{
    struct gt_progress progress;
    double wall_us;

    if (serve->model->profiles.count == 0)
        return 0;
    gt_profiles_attach(&serve->model->profiles, joined, "load", quiet);
    gt_progress_begin(&progress, "simulating kernels", serve->model->quiet);
    *modelled = gt_run_kernels(joined, &serve->device, &serve->device, false, &progress, &wall_us, error);
    gt_progress_end(&progress);
    return *modelled != NULL ? 0 : -1;
}

/* What the answer rests on, once. */
static void warn(const struct gt_serve_load *serve, struct gt_workload *joined)
{
    if (serve->load.tenant_count > 1)
        gt_shared_warn(joined, serve->model->quiet);
    gt_shared_warn_of_mig(joined, serve->model->quiet);
}

static int play(const struct gt_serve_load *serve, const struct gt_load *load, struct gt_workload *joined,
                const gt_time_ps *alone_ps, struct gt_options *options, const struct gt_serve_asked *asked,
                const struct gt_probe *probe, struct gt_error *error)
{
    struct gt_serve_window window;
    struct gt_probe window_probe;
    struct gt_summary summary;
    int status;

    if (asked->window != NULL) {
        gt_serve_window_begin(&window, joined, load, probe, &window_probe);
        probe = &window_probe;
    }
    options->requests = gt_requests_new(load, joined, alone_ps, asked->sink, asked->user);
    status =
        gt_simulate(joined, &serve->device, options, gt_requests_probe(options->requests, probe), &summary, error);
    gt_requests_free(options->requests);
    if (asked->window != NULL &&
        gt_serve_window_end(&window, serve->device.sms, status == 0 ? asked->window : NULL, error) != 0)
        status = -1;
    return status;
}

/* The tenants of `load`, which are the file's from `first` on; `probe` is told the run's records, unless they go to a window. */
static int simulate(const struct gt_serve_load *serve, const struct gt_load *load, uint32_t first,
                    struct gt_options *options, const struct gt_serve_asked *asked, const struct gt_probe *probe,
                    struct gt_error *error)
{
    gt_time_ps *alone_ps = NULL;
    struct gt_workload *joined =
        join(serve, load, first, serve->alone_op_ps[first] != NULL ? &alone_ps : NULL, error);
    struct gt_kernel_model *modelled = NULL;
    int status;

    if (joined == NULL)
        return -1;
    status = attach_programs(serve, joined, serve->model->quiet || !asked->first, &modelled, error);
    if (status == 0 && asked->first)
        warn(serve, joined);
    options->modelled = modelled;
    if (status == 0)
        status = play(serve, load, joined, alone_ps, options, asked, probe, error);
    gt_kernel_model_free(modelled);
    gt_workload_free(joined);
    free(alone_ps);
    return status;
}

int gt_serve_simulate(const struct gt_serve_load *serve, const struct gt_serve_asked *asked, struct gt_error *error)
{
    const struct gt_probe probe = { .user = asked->progress, .progress = gt_progress_probe };
    struct gt_options options = GT_OPTIONS_DEFAULT;

    options.seed = asked->seed;
    options.noise_draw = options.noise_draws = asked->noise;
    return simulate(serve, &serve->load, 0, &options, asked, &probe, error);
}

int gt_serve_simulate_one(const struct gt_serve_load *serve, uint32_t tenant, const struct gt_serve_asked *asked,
                          struct gt_error *error)
{
    const struct gt_probe probe = { .user = asked->progress, .progress = gt_progress_probe };
    struct gt_load load = { .tenants = &serve->load.tenants[tenant], .tenant_count = 1 };
    struct gt_options options = GT_OPTIONS_DEFAULT;

    options.seed = asked->seed;
    options.noise_draw = options.noise_draws = asked->noise;
    return gt_serve_policy_find(&load, "none", error) == 0
               ? simulate(serve, &load, tenant, &options, asked, &probe, error)
               : -1;
}

/* When the last request arrives, about. */
static gt_time_ps length_ps(const struct gt_load *load)
{
    gt_time_ps longest_ps = 0;

    for (uint32_t i = 0; i < load->tenant_count; i++) {
        const struct gt_arrivals *arrivals = &load->tenants[i].arrivals;
        gt_time_ps last_ps = arrivals->until_ps;

        if (arrivals->kind == GT_ARRIVALS_FILE && last_ps == GT_TIME_NONE)
            last_ps = arrivals->times_ps[arrivals->time_count - 1];
        else if (arrivals->kind != GT_ARRIVALS_CLOSED && last_ps == GT_TIME_NONE)
            last_ps = (gt_time_ps)fmin((double)arrivals->most / arrivals->per_s * 1e12, (double)GT_TIME_LIMIT_PS);
        if (last_ps != GT_TIME_NONE && last_ps > longest_ps)
            longest_ps = last_ps;
    }
    return longest_ps;
}

int gt_serve_saturate(struct gt_serve_load *serve, uint32_t tenant, const struct gt_serve_asked *asked,
                      struct gt_error *error)
{
    struct gt_arrivals said = serve->load.tenants[tenant].arrivals;
    int status;

    if (serve->load.tenants[tenant].alone_ps == 0)
        return gt_error_set(error, "tenant '%.60s': a request takes no time: it has no saturation",
                            serve->load.tenants[tenant].name);
    serve->load.tenants[tenant].arrivals =
        (struct gt_arrivals){ .kind = GT_ARRIVALS_CLOSED, .ends_in_time = true, .until_ps = length_ps(&serve->load) };
    status = gt_serve_simulate(serve, asked, error);
    serve->load.tenants[tenant].arrivals = said;
    return status;
}

/* What a request takes alone: the last of a few, as the first calls cost more. */
enum { ALONE = 3 };
struct alone {
    gt_time_ps *op_ps, took_ps;
};

static int take_alone(void *user, const struct gt_request_record *record, struct gt_error *error)
{
    (void)error;
    ((struct alone *)user)->took_ps = record->end_ps - record->begin_ps;
    return 0;
}

static int take_alone_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    (void)error;
    ((struct alone *)user)->op_ps[record->op] = record->end_ps - record->start_ps;
    return 0;
}

static int find_alone(struct gt_serve_load *serve, uint32_t tenant, struct gt_error *error)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_tenant own = serve->load.tenants[tenant];
    struct gt_load load = { .tenants = &own, .tenant_count = 1, .one_process = serve->load.one_process };
    struct alone alone = { gt_calloc(own.request->op_count + 1ull, sizeof *alone.op_ps), 0 };
    const struct gt_serve_asked asked = { .sink = take_alone, .user = &alone };
    const struct gt_probe probe = { .user = &alone, .op = take_alone_op };

    own.workers = 1;
    own.arrivals = (struct gt_arrivals){ .kind = GT_ARRIVALS_CLOSED, .most = ALONE, .until_ps = GT_TIME_NONE };
    if (gt_serve_policy_find(&load, "none", error) != 0 ||
        simulate(serve, &load, tenant, &options, &asked, &probe, error) != 0) {
        free(alone.op_ps);
        return gt_error_prefix(error, "tenant '%.60s': ", own.name);
    }
    serve->alone_op_ps[tenant] = alone.op_ps;
    serve->load.tenants[tenant].alone_ps = alone.took_ps;
    if (alone.took_ps == 0 &&
        (serve->load.tenants[tenant].arrivals.kind == GT_ARRIVALS_CLOSED || !isnan(serve->file.tenants[tenant].load)))
        return gt_error_set(error,
                            "tenant '%.60s': a request takes no time: its arrivals can be neither closed nor a load",
                            own.name);
    return 0;
}

static void forget_pieces(struct gt_serve_load *serve, uint32_t tenant)
{
    if (serve->whole[tenant] == NULL)
        return;
    gt_workload_free(serve->load.tenants[tenant].request);
    free(serve->alone_op_ps[tenant]);
    serve->load.tenants[tenant].request = serve->whole[tenant];
    serve->alone_op_ps[tenant] = serve->whole_op_ps[tenant];
    serve->whole[tenant] = NULL;
}

int gt_serve_set_policy(struct gt_serve_load *serve, const char *text, struct gt_error *error)
{
    int parameter;

    serve->policy = text;
    if (gt_serve_policy_find(&serve->load, text, error) != 0)
        return -1;
    parameter = serve->load.policy->slice_parameter;
    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        struct gt_tenant *tenant = &serve->load.tenants[i];

        forget_pieces(serve, i);
        if (parameter < 0 || tenant->critical)
            continue;
        serve->whole[i] = tenant->request;
        serve->whole_op_ps[i] = serve->alone_op_ps[i];
        tenant->request =
            gt_slice_kernels(tenant->request, &serve->device, (uint64_t)serve->load.parameters[parameter],
                             serve->whole_op_ps[i], &serve->alone_op_ps[i]);
    }
    return 0;
}

void gt_serve_set_rates(struct gt_serve_load *serve)
{
    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        struct gt_tenant *tenant = &serve->load.tenants[i];
        double alone_s = (double)tenant->alone_ps / 1e12;

        if (!isnan(serve->file.tenants[i].load) && alone_s > 0)
            tenant->arrivals.per_s = serve->file.tenants[i].load * tenant->workers / alone_s;
    }
}

static int prepare(struct gt_serve_load *serve, struct gt_workload *const *traces,
                   const struct gt_model_options *model, const char *share, struct gt_error *error)
{
    if (choose_device(serve, traces, model->device, model->quiet, error) != 0 ||
        choose_sharing(serve, share, error) != 0)
        return -1;
    take_tenants(serve);
    if (cut_requests(serve, traces, error) != 0)
        return -1;
    for (uint32_t i = 0; i < serve->load.tenant_count; i++)
        if (find_alone(serve, i, error) != 0)
            return -1;
    gt_serve_set_rates(serve);
    return 0;
}

int gt_serve_load_begin(struct gt_serve_load *serve, const char *path, const struct gt_model_options *model,
                        const char *share, struct gt_error *error)
{
    struct gt_workload *traces[GT_LOAD_TENANTS_MAX] = { NULL };
    uint32_t read = 0;
    int status = -1;

    memset(serve, 0, sizeof *serve);
    serve->model = model;
    if (gt_load_file_read(&serve->file, path, error) != 0)
        return -1;
    while (read < serve->file.tenant_count &&
           (traces[read] = gt_run_read(serve->file.tenants[read].trace, model->quiet, error)) != NULL)
        read++;
    if (read == serve->file.tenant_count)
        status = prepare(serve, traces, model, share, error);
    while (read > 0)
        gt_workload_free(traces[--read]);
    return status == 0 ? 0 : gt_error_prefix(error, "%s: ", path);
}

void gt_serve_load_end(struct gt_serve_load *serve)
{
    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        forget_pieces(serve, i);
        gt_workload_free(serve->load.tenants[i].request);
        free(serve->alone_op_ps[i]);
    }
    free(serve->load.tenants);
    free(serve->sized);
    gt_load_file_free(&serve->file);
}
