/* validate.c - `gridtide validate`: traces simulated, played on a GPU, held against each other. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/cmd/gpu/validate_arguments.h"
#include "sim/cmd/gpu/validate_shrink.h"
#include "sim/cmd/input/run_input.h"
#include "sim/cmd/print/judged.h"
#include "sim/cmd/print/terminal.h"
#include "sim/workload/task_graph.h"
#include "traces/names/clean_text.h"
#include "validate/gpu/supervise.h"
#include "validate/host_measure.h"
#include "validate/player/processes.h"
#include "validate/player/stored.h"
#include "validate/validate.h"

static bool stop(void *user)
{
    (void)user;
    return gt_interrupted();
}

/* What the processes of one validation, one after the other, tell each other. */
struct shared {
    size_t next;   /* trace to come */
    size_t starts; /* of processes */
    uint32_t row_count;
    bool failed; /* a trace could not be validated */
    bool made_store;
    int64_t first_trace;      /* of those that are put into the store; 0: it was not opened yet */
    uint32_t fired[GT_RULES]; /* traces in which each rule of the scheduler acted */
};
enum { NAME_BYTES = 512 };

/* The whole command: what it works on. */
struct work {
    struct gt_validate_arguments *arguments;
    struct shared *shared;
    struct gt_judged *rows;    /* shared too */
    char (*names)[NAME_BYTES]; /* theirs */
    struct gt_validation validation;
    struct gt_host_costs *host; /* of this process; NULL: the device file's hold, or the store's */
    struct gt_progress progress;
    struct gt_device device; /* the last one put into the store */
    int64_t device_id;       /* 0: none yet */
    bool lost;               /* the GPU, after a fault */
    struct gt_shrinker shrinker;
    struct gt_device shrink_on; /* whose trace is shrunk: what it was recorded on */
};

static void tell(void *user, const char *what, uint32_t done, uint32_t total)
{
    struct work *work = user;

    if (done == 0) {
        gt_progress_end(&work->progress);
        gt_progress_begin(&work->progress, what, work->arguments->model.quiet);
    }
    gt_progress_update(&work->progress, done, total);
}

/* Exists already: more runs go behind what it has. A new one is there from the start, so that whatever
 * ends the program leaves the runs that were whole. */
static struct gt_store *open_store(const char *path, struct shared *shared, struct gt_error *error)
{
    struct gt_store *store;

    if (access(path, F_OK) != 0) {
        store = gt_store_create(path, error);
        if (store == NULL || gt_store_commit(store, error) != 0)
            return NULL;
        shared->made_store = true;
    }
    store = gt_store_open(path, true, error);
    if (store != NULL && shared->first_trace == 0)
        shared->first_trace = gt_store_next_trace(store, error);
    return store;
}

/* However the work ended: a trace of which nothing was measured is not left half in the store, nor is a new
 * store left without a run. */
static int tidy_store(const char *path, const struct shared *shared, struct gt_error *error)
{
    struct gt_store *store;
    int result;

    if (shared->first_trace <= 0)
        return 0;
    store = gt_store_open(path, true, error);
    if (store == NULL)
        return -1;
    result = gt_store_drop_unmeasured(store, shared->first_trace, error);
    if (result == 0 && shared->made_store)
        return gt_store_close_or_remove(store, error);
    gt_store_close(store);
    return result;
}

/* What the host's calls cost where the trace is, or was, played, in place of what the device file says. */
static int take_host(struct work *work, const char *name, struct gt_device *device, struct gt_error *error)
{
    const struct gt_device before = *device;
    int result = 0;

    work->validation.host_calls = 0;
    if (work->arguments->measured != NULL)
        result = gt_stored_host(name, device, &work->validation.host_calls, error);
    else if (work->host != NULL)
        work->validation.host_calls = gt_host_costs_apply(work->host, device);
    gt_host_scale_others(device, &before);
    return result;
}

static int find_devices(struct work *work, const struct gt_workload *workload, const char *name,
                        struct gt_device *device, struct gt_device *recorded_on, struct gt_error *error)
{
    const struct gt_model_options *model = &work->arguments->model;

    if (gt_run_device(workload, model->device, model->quiet, device, error) != 0 ||
        take_host(work, name, device, error) != 0)
        return -1;
    *recorded_on = *device;
    return model->device != NULL ? gt_run_traced_device(workload, recorded_on, error) : 0;
}

/* The device is in the store from then on. */
static int choose_device(struct work *work, const struct gt_workload *workload, const char *name,
                         struct gt_device *device, struct gt_device *recorded_on, struct gt_error *error)
{
    if (find_devices(work, workload, name, device, recorded_on, error) != 0)
        return -1;
    if (work->device_id != 0 && memcmp(device, &work->device, sizeof *device) == 0)
        return 0;
    work->device = *device;
    work->device_id = gt_store_put_device(work->validation.store, device, error);
    return work->device_id < 0 ? -1 : 0;
}

/* What makes the measured times doubtful. */
static void warn(const struct work *work, const char *name, const struct gt_workload *workload,
                 const struct gt_validated *validated)
{
    if (work->arguments->model.quiet)
        return;
    if (validated->unseen > 0)
        fprintf(stderr,
                "gridtide: %s: %" PRIu64 " of %" PRIu32
                " operations were not recorded, so they are not compared; is another profiler running?\n",
                name, validated->unseen, workload->op_count);
    if (validated->others.processes > 0)
        fprintf(stderr,
                "gridtide: %s: %" PRIu32
                " other process%s the GPU: the measured times include their load; stop the others and "
                "validate again\n",
                name, validated->others.processes, validated->others.processes == 1 ? " uses" : "es use");
    else if (validated->others.busy_pct > 0 && work->shared->row_count == 0)
        fprintf(stderr,
                "gridtide: %s: the GPU was %" PRIu32
                " %% busy with other work before: the measured times may include it\n",
                name, validated->others.busy_pct);
}

static int validate_workload(struct work *work, struct gt_workload *workload, struct gt_judged *row, bool *measured,
                             struct gt_error *error)
{
    struct gt_validated validated = { .measured = 0 };
    struct gt_device device, recorded_on;
    int result;

    if (choose_device(work, workload, row->name, &device, &recorded_on, error) != 0 ||
        gt_price_tasks(work->arguments->model.task_costs, workload, &device, row->name, work->arguments->model.quiet,
                       error) != 0)
        return -1;
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        workload->task_graphs[i]->between_ps = GT_TIME_NONE; /* here Gridtide's executor runs the tasks */
    work->validation.recorded_on = &recorded_on;
    result = gt_validate(&work->validation, workload, row->name, &device, work->device_id, &validated, error);
    row->surrogates = validated.surrogates;
    row->verdict = validated.verdict;
    *measured = validated.measured > 0;
    for (int i = 0; *measured && i < GT_RULES; i++)
        work->shared->fired[i] += validated.fired[i];
    work->lost = validated.lost;
    gt_progress_end(&work->progress);
    warn(work, row->name, workload, &validated);
    return result;
}

/* One trace: its failure is told, and the next one goes on. */
static void validate_trace(struct work *work, size_t number)
{
    struct gt_judged *row = &work->rows[work->shared->row_count];
    struct gt_error error = { "" };
    struct gt_workload *workload = gt_validate_read(work->arguments, number, &error);
    char path[NAME_BYTES];
    bool measured = false;
    int result = -1;

    gt_validate_place(work->arguments, number, path, sizeof path);
    row->name = work->names[work->shared->row_count];
    gt_validate_name(workload, path, row->name, NAME_BYTES);
    if (workload != NULL) {
        gt_profiles_attach(&work->arguments->model.profiles, workload, row->name, work->arguments->model.quiet);
        if (!work->arguments->model.program_cost || gt_profiles_check_cost(workload, &error) == 0)
            result = validate_workload(work, workload, row, &measured, &error);
    }
    gt_workload_free(workload);
    if (result != 0) {
        char *name = gt_clean_name(row->name), *text = gt_clean_name(error.text);

        fprintf(stderr, "gridtide: %s: %s\n", name, text);
        free(name);
        free(text);
        work->shared->failed = true;
    }
    if (!measured)
        return;
    if (work->arguments->shrink)
        work->shrinker.rows[work->shared->row_count].number = (uint32_t)number;
    work->shared->row_count++;
    if (work->arguments->lines)
        gt_judged_print(stdout, row);
}

/* For gt_shrinker. */
static struct gt_workload *read_again(void *user, uint32_t row, struct gt_validation *validation,
                                      struct gt_device *device, struct gt_error *error)
{
    struct work *work = user;
    struct gt_workload *workload = gt_validate_read(work->arguments, work->shrinker.rows[row].number, error);

    if (workload != NULL)
        gt_profiles_attach(&work->arguments->model.profiles, workload, work->rows[row].name, true);
    if (workload != NULL &&
        find_devices(work, workload, work->rows[row].name, device, &work->shrink_on, error) != 0) {
        gt_workload_free(workload);
        return NULL;
    }
    *validation = work->validation;
    validation->recorded_on = &work->shrink_on;
    return workload;
}

/* True where another process goes on; a failure is told. */
static bool shrink(struct work *work)
{
    struct gt_error error = { "" };
    int result;

    work->shrinker.count = work->shared->row_count;
    result = gt_shrink_all(&work->shrinker, &error);
    gt_progress_end(&work->progress);
    if (result < 0) {
        gt_fail(&error);
        work->shared->failed = true;
    }
    return result > 0;
}

static int sum_up(struct work *work, struct gt_suite *suite, struct gt_error *error)
{
    uint32_t count = work->shared->row_count;
    struct gt_verdict *verdicts = gt_calloc(count + 1ull, sizeof *verdicts);
    int result;

    for (uint32_t i = 0; i < count; i++)
        verdicts[i] = work->rows[i].verdict;
    result = gt_verdict_suite(work->validation.store, verdicts, count, suite, error);
    free(verdicts);
    return result;
}

/* Traces of which people have read the lines already, and what they come to; of random ones also what they were made
 * smaller to, and the rules that acted. */
static void print_all(const struct work *work, uint32_t count, const struct gt_suite *suite)
{
    enum gt_format format = work->arguments->format;
    struct gt_table *more[GT_JUDGED_MORE];
    size_t more_count = 0;

    if (work->arguments->shrink)
        more[more_count++] = gt_shrink_table(&work->shrinker);
    if (work->arguments->random > 0)
        more[more_count++] = gt_rules_table(work->shared->fired, format);
    if (work->arguments->lines) {
        gt_judged_print_summary(stdout, suite);
        gt_tables_print(stdout, format, more, more_count);
    } else {
        gt_judged_print_all(stdout, format, work->rows, count, suite, more, more_count);
    }
    while (more_count > 0)
        gt_table_free(more[--more_count]);
}

static int conclude(struct work *work, struct gt_error *error)
{
    const struct gt_validate_arguments *arguments = work->arguments;
    uint32_t count = work->shared->row_count;
    struct gt_suite suite;

    if (sum_up(work, &suite, error) != 0)
        return -1;
    if (arguments->tables)
        print_all(work, count, &suite);
    if (!arguments->model.quiet && arguments->shrink && gt_shrink_left(&work->shrinker) > 0)
        fprintf(stderr, "gridtide: the %d seconds for --shrink ended before %" PRIu32 " more traces\n",
                GT_SHRINK_ALL_S, gt_shrink_left(&work->shrinker));
    if (arguments->check && !suite.within)
        return gt_error_set(error, "%s",
                            count > 1 ? "the error exceeds the suite's thresholds (table metric)"
                                      : "the error exceeds the thresholds (table metric)");
    return 0;
}

/* Returns GT_GO_ON where this process can do no more. */
static int validate_all(struct work *work, struct gt_error *error)
{
    const struct gt_validate_arguments *arguments = work->arguments;

    if (work->shared->starts == 1 && arguments->lines)
        gt_judged_print_heading(stdout);
    while (work->shared->next < arguments->trace_count && !gt_interrupted() && !work->lost)
        validate_trace(work, work->shared->next++);
    gt_interrupts_over();
    if (arguments->shrink && !gt_interrupted() && (work->lost || shrink(work)))
        return GT_GO_ON;
    if (gt_interrupted() && work->shared->row_count == 0)
        fputs("gridtide: interrupted before anything was measured\n", stderr);
    else if (gt_interrupted())
        fprintf(stderr, "gridtide: interrupted: %s contains what was measured\n", arguments->output);
    else if (work->shared->next < arguments->trace_count)
        return GT_GO_ON;
    return conclude(work, error);
}

static void tell_host(void *user, uint32_t done)
{
    tell(user, "measuring the host", done, GT_HOST_TRACES);
}

static int measure_host(struct work *work, struct gt_error *error)
{
    int result;

    work->host = gt_host_costs_new();
    tell_host(work, 0);
    result = gt_host_measure(work->validation.players, work->host, stop, tell_host, work, error);
    gt_progress_end(&work->progress);
    return result;
}

static int work_on(struct work *work, struct gt_error *error)
{
    struct gt_validate_arguments *arguments = work->arguments;
    struct gt_gpu_facts facts = { .sms = 0 };
    int result;

    if (gt_profiles_read(&arguments->model.profiles, arguments->model.quiet, error) != 0 ||
        (arguments->measured != NULL && gt_stored_open(arguments->measured, error) != 0))
        return -1;
    if (work->validation.players->find(&facts, error) != 0)
        return -1;
    work->validation.store = open_store(arguments->output, work->shared, error);
    if (work->validation.store == NULL)
        return -1;
    gt_interrupts_catch();
    if (!arguments->model.quiet && work->shared->starts == 1 && arguments->measured == NULL)
        fprintf(stderr, "gridtide: on %s, %u SMs, compute capability %u.%u, CUDA driver %d.%d\n", facts.name,
                facts.sms, facts.compute_major, facts.compute_minor, facts.driver / 1000, facts.driver % 1000 / 10);
    result = arguments->measured == NULL ? measure_host(work, error) : 0;
    if (result == 0)
        result = validate_all(work, error);
    gt_host_costs_free(work->host);
    gt_store_close(work->validation.store);
    gt_stored_close();
    gt_profiles_free(&arguments->model.profiles);
    return result;
}

/* The trace that is played now, or was last. */
static size_t at_work(const struct work *work)
{
    const struct gt_shrink_time *time = work->shrinker.time;

    return time != NULL && time->begun > 0 ? work->shrinker.rows[time->last].number : work->shared->next - 1;
}

/* In a process of its own, which a fault of the GPU may end: the exit status. */
static int work_in_process(void *user, int died_of)
{
    struct work *work = user;
    struct gt_error error = { "" };
    char place[NAME_BYTES];
    int result;

    if (died_of != 0) {
        work->shared->failed = true;
        if (work->shared->next == 0) {
            gt_error_set(&error, "the process that searched for a GPU was killed by signal %d", died_of);
            return gt_fail(&error);
        }
        gt_validate_place(work->arguments, at_work(work), place, sizeof place);
        fprintf(stderr, "gridtide: %s: the process that ran it was killed by signal %d\n", place, died_of);
    }
    work->shared->starts++;
    result = work_on(work, &error);
    if (result == GT_GO_ON)
        return GT_GO_ON;
    if (result != 0)
        return gt_fail(&error);
    return work->shared->failed || gt_interrupted() ? GT_EXIT_FAILED : GT_EXIT_DONE;
}

static const struct gt_players *players_for(const struct gt_validate_arguments *arguments)
{
    if (arguments->measured != NULL)
        return &gt_stored_players;
    return gt_validate_needs_processes(arguments) ? &gt_process_players : &gt_cuda_players;
}

/* Zeroed memory that child processes share; given back as the program ends. */
static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        gt_no_memory("what two processes share");
    return memory;
}

static int run(int argc, char **argv)
{
    /* clang-format off */
    struct gt_validate_arguments arguments;
    /* clang-format on */
    struct gt_error error = { "" };
    struct work work = { .arguments = &arguments };
    int result;

    gt_validate_arguments_parse(argc, argv, &arguments);
    if (gt_validate_draw(&arguments, &error) != 0)
        return gt_fail(&error);
    work.validation = (struct gt_validation){
        .players = players_for(&arguments),
        .repetitions = arguments.repetitions,
        .blocks = arguments.blocks,
        .seed = arguments.model.seed,
        .surrogates = arguments.surrogates,
        .program_cost = arguments.model.program_cost,
        .no_inference = arguments.model.no_inference,
        .stop = stop,
        .tell = tell,
        .user = &work,
    };
    work.shared = share(sizeof *work.shared);
    work.rows = share(arguments.trace_count * sizeof *work.rows);
    work.names = share(arguments.trace_count * sizeof *work.names);
    if (arguments.shrink)
        work.shrinker = (struct gt_shrinker){
            .judged = work.rows,
            .rows = share(arguments.trace_count * sizeof *work.shrinker.rows),
            .time = share(sizeof *work.shrinker.time),
            .store = arguments.output,
            .read = read_again,
            .stop = stop,
            .tell = tell,
            .user = &work,
        };
    result = gt_supervise(work_in_process, &work, &error);
    gt_profiles_free(&arguments.model.profiles);
    gt_kernel_list_free(&arguments.list);
    if (result < 0)
        gt_fail(&error);
    if (tidy_store(arguments.output, work.shared, &error) != 0)
        return gt_fail(&error);
    return result < 0 ? GT_EXIT_FAILED : result;
}

const struct gt_command gt_command_validate = {
    "validate",
    "compare simulated runs with runs on this machine's GPU",
    run,
};
