/* stats.c - `gridtide stats`: what a run in a store comes to. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/report/stats_tables.h"
#include "sim/cmd/report/stats_workers.h"
#include "traces/explain/part.h"
#include "traces/store/store.h"

struct arguments {
    const char *store, *run, *recorded_tasks;
    enum gt_format format;
    struct gt_filter filter;
};

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("summary, breakdown, breakdown_ranks, breakdown_steps, host_while_idle, streams, kernels, steps, "
                    "operators, launch_tree, tasks, task_kinds, polls, copies, sms, occupancy, critical_path, "
                    "critical_path_segments, notes, workers"),
    { "run", 'r', "simulated|measured", 0,
      "Which run: the newest simulated run (the default) or the newest measured run", 0 },
    { "recorded-tasks", 'T', "FILE", 0,
      "Show the workers of a persistent kernel beside those of this recording (of Mirage, FlashInfer or Triton)", 0 },
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->filter; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'r':
        if (strcmp(text, "simulated") != 0 && strcmp(text, "measured") != 0)
            argp_error(state, "unknown kind of run '%s'; kinds are simulated, measured", text);
        arguments->run = text;
        return 0;
    case 'T': arguments->recorded_tasks = text; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "store", text, &arguments->store); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a store that 'gridtide run' wrote"); return 0;
    case ARGP_KEY_END:
        gt_option_table_needs(state, "workers", "--recorded-tasks", arguments->recorded_tasks != NULL);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db",
    "Break down a run's time: busy and idle time of the GPU, of streams and why they were "
    "idle, kernels, copies, SMs, occupancy over time, the critical path.\vThe makespan is the "
    "time from the first operation's start to the last operation's end. A stream's busy time, "
    "its idle times by cause and the time before its first and after its last operation add up "
    "to the makespan. The critical path leads from the first host call to the end of the last "
    "operation; its parts add up to its length.",
    gt_filter_children, NULL, NULL,
};
/* clang-format on */

/* Is the run one with a change?  Which run it is held against is told where people read. */
static int tell_change(struct gt_store *store, int64_t run_id, const struct arguments *arguments,
                       struct gt_error *error)
{
    int64_t without;

    if (gt_store_find_baseline(store, run_id, &without, error) != 0)
        return -1;
    if (without != 0 && arguments->format == GT_FORMAT_TABLE)
        fprintf(stderr,
                "gridtide: run %" PRId64 " has a change, run %" PRId64
                " is without it: 'gridtide compare %s' compares them\n",
                run_id, without, arguments->store);
    return 0;
}

/* The run's rows, or those of the part that is asked for. */
static struct gt_loaded_run *load_run(struct gt_database *database, int64_t run_id, const struct gt_filter *filter,
                                      struct gt_error *error)
{
    struct gt_loaded_run *run = gt_loaded_run_load(database, run_id, error);

    if (run == NULL || gt_part_take(run, database, filter, error) == 0)
        return run;
    gt_loaded_run_free(run);
    return NULL;
}

/* One more table: how many there are; -1, and they are freed. */
static int add_workers(struct gt_database *database, int64_t run_id, const struct arguments *arguments,
                       struct gt_table **tables, int count, struct gt_error *error)
{
    tables[count] = gt_stats_workers_table(database, run_id, arguments->recorded_tasks, error);
    if (tables[count] != NULL)
        return count + 1;
    while (count > 0)
        gt_table_free(tables[--count]);
    return -1;
}

static int print_stats(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;
    struct gt_database *database = gt_store_database(store);
    int64_t run_id = gt_stats_find_run(database, arguments->run, error);
    struct gt_stats *stats = run_id < 0 ? NULL : gt_stats_compute(database, run_id, &arguments->filter, error);
    struct gt_loaded_run *loaded = stats == NULL ? NULL : load_run(database, run_id, &arguments->filter, error);
    struct gt_table *tables[GT_STATS_TABLES_MAX + 1];
    int count = -1;

    if (loaded != NULL && tell_change(store, run_id, arguments, error) == 0)
        count = gt_stats_tables(stats, loaded, arguments->format, tables, error);
    if (count >= 0 && arguments->recorded_tasks != NULL)
        count = add_workers(database, run_id, arguments, tables, count, error);
    if (count >= 0)
        gt_tables_print(stdout, arguments->format, tables, (size_t)count);
    for (int i = 0; i < count; i++)
        gt_table_free(tables[i]);
    gt_loaded_run_free(loaded);
    gt_stats_free(stats);
    return count < 0 ? -1 : 0;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .run = "simulated", .filter = GT_FILTER_ALL };

    gt_parse(&parser, argc, argv, &arguments);
    return gt_with_store(arguments.store, print_stats, &arguments);
}

const struct gt_command gt_command_stats = {
    "stats",
    "break down a run's time: streams, kernels, copies, critical path",
    run,
};
