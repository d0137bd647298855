/* serve.c - `gridtide serve`: requests that arrive at tenants of a GPU, and how long they take. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/serve/right_size.h"
#include "sim/cmd/serve/serve_print.h"
#include "sim/serve/policy.h"

enum {
    OPTION_POLICY = 256,
    OPTION_SHARE,
    OPTION_LOAD,
    OPTION_NOISE,
    OPTION_DEVICE,
    OPTION_PROGRAMS,
    OPTION_SEED,
    OPTION_SATURATION
};
enum { POLICIES_MAX = 32, LOADS_MAX = 100 };

struct arguments {
    struct gt_model_options model;
    const char *path, *share, *output;
    char *policies[POLICIES_MAX];
    uint32_t policy_count;
    double loads[LOADS_MAX];
    uint32_t load_count;
    bool no_noise, saturation;
    enum gt_format format;
};

static const struct argp_option options[] = {
    { "policy", OPTION_POLICY, "NAME[,NAME...]", 0,
      "Dispatch policy, instead of the load's: none, fifo, priority, gate, slices or orion; parameters follow the "
      "name: "
      "'slices blocks=132'",
      0 },
    { "share", OPTION_SHARE, "streams|sliced|mps[:PERCENT]|green:SMS|mig:PROFILE", 0,
      "How tenants share the GPU, instead of what the load says: as threads of one process (streams), or each as a "
      "process; "
      "a number per tenant is separated by commas: mps:50,50. green:auto: as few SMs as critical tenants need",
      0 },
    { "load", OPTION_LOAD, "LOAD[,LOAD...]", 0,
      "Load of the tenants that state one, instead of theirs; 1 is all that a tenant can serve alone", 0 },
    { "saturation", OPTION_SATURATION, NULL, 0,
      "Also print how many requests per second each tenant could serve at most beside the others", 0 },
    { "noise", OPTION_NOISE, "on|off", 0,
      "Host calls vary from request to request (on, the default), or take the same time", 0 },
    { "device", OPTION_DEVICE, "NAME|FILE.ini", 0,
      "The GPU, by name or device file (default: the one that the load or a trace names)", 0 },
    { "programs", OPTION_PROGRAMS, "PROFILE", 0,
      "Take machine code and memory use of kernels from this Nsight Compute profile, for policy orion; may be "
      "repeated",
      0 },
    { "seed", OPTION_SEED, "N", 0, "Seed for host noise (default 1); arrivals have the load's", 0 },
    { "output", 'o', "RUN.db", 0, "Also write each request to an SQLite file, for report", 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("tenants, time, late, saturation, sweep"),
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case OPTION_DEVICE: arguments->model.device = text; return 0;
    case OPTION_PROGRAMS: gt_profiles_add(&arguments->model.profiles, text); return 0;
    case OPTION_SEED: arguments->model.seed = gt_option_number(state, "seed", text, 0, UINT64_MAX); return 0;
    case OPTION_POLICY:
        gt_option_words(state, "policy", text, arguments->policies, POLICIES_MAX, &arguments->policy_count);
        return 0;
    case OPTION_SATURATION: arguments->saturation = true; return 0;
    case OPTION_SHARE: arguments->share = text; return 0;
    case OPTION_LOAD:
        gt_option_reals(state, "load", text, 100, arguments->loads, LOADS_MAX, &arguments->load_count);
        return 0;
    case OPTION_NOISE: arguments->no_noise = gt_option_either(state, "noise", text, "on", "off") == 1; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'o': arguments->output = text; return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "load", text, &arguments->path); return 0;
    case ARGP_KEY_END: gt_option_table_needs(state, "saturation", "--saturation", arguments->saturation); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a load"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "LOAD.jsonl",
    "Simulate requests that arrive at tenants that share a GPU: latencies, deadlines missed, where the time went and why "
    "requests were late.\vThe load is a file of JSON lines: a line for the load, then one for each tenant, with the trace of a "
    "request and when requests arrive; gridtide-serve(1) has its fields. Arrivals do not wait for completions, except "
    "closed ones. With several policies or loads, a row for each is printed.",
    NULL, NULL, NULL,
};
/* clang-format on */

/* Where requests go: into the result, and into the store where one is asked for. */
struct serving {
    struct gt_serve_result result;
    struct gt_serve_rows *rows;
};

static int take(void *user, const struct gt_request_record *record, struct gt_error *error)
{
    struct serving *serving = user;

    if (serving->rows != NULL && record->number >= serving->result.serve->load.warm_up &&
        gt_serve_rows_request(serving->rows, record, error) != 0)
        return -1;
    return gt_serve_result_take(&serving->result, record, error);
}

static int begin_rows(const struct arguments *arguments, const struct gt_serve_load *serve,
                      struct gt_serve_rows *rows, double load, struct gt_error *error)
{
    const struct gt_serve_row row = {
        .policy = serve->policy,
        .share = serve->sized != NULL ? serve->sized : serve->share,
        .device = serve->device.name,
        .load = load,
        .seed = arguments->model.seed,
    };

    return rows != NULL ? gt_serve_rows_run(rows, &row, &serve->load, error) : 0;
}

/* How many requests a second one tenant could serve. */
static int saturate(const struct arguments *arguments, struct gt_serve_load *serve, uint32_t tenant,
                    struct gt_table *table, struct gt_error *error)
{
    struct gt_serve_result *result = gt_calloc(1, sizeof *result);
    struct gt_progress progress;
    const struct gt_serve_asked asked = { .seed = arguments->model.seed,
                                          .noise = !arguments->no_noise,
                                          .sink = gt_serve_result_take,
                                          .user = result,
                                          .progress = &progress };
    int status;

    result->serve = serve;
    gt_progress_begin(&progress, "simulating", arguments->model.quiet);
    status = gt_serve_saturate(serve, tenant, &asked, error);
    gt_progress_end(&progress);
    if (status == 0)
        gt_serve_saturation_add(table, result, tenant);
    gt_serve_result_free(result);
    free(result);
    return status;
}

static int saturate_all(const struct arguments *arguments, struct gt_serve_load *serve, struct gt_table *table,
                        struct gt_error *error)
{
    for (uint32_t i = 0; table != NULL && i < serve->load.tenant_count; i++)
        if (serve->load.tenants[i].arrivals.kind != GT_ARRIVALS_CLOSED &&
            saturate(arguments, serve, i, table, error) != 0)
            return -1;
    return 0;
}

/* Tables of a command that are filled run by run; NULL: not asked for. */
struct tables {
    struct gt_table *sweep, *saturation;
};

/* One policy, one load (NAN: the file's).  `rows`: the store; NULL: none is asked for. */
static int serve_one(const struct arguments *arguments, struct gt_serve_load *serve, const struct tables *tables,
                     double load, struct gt_serve_rows *rows, bool first, struct gt_error *error)
{
    struct serving *serving = gt_calloc(1, sizeof *serving);
    struct gt_progress progress;
    const struct gt_serve_asked asked = {
        .seed = arguments->model.seed,
        .noise = !arguments->no_noise,
        .sink = take,
        .user = serving,
        .progress = &progress,
        .window = first ? rows : NULL,
        .first = first,
    };
    int status = begin_rows(arguments, serve, rows, load, error);

    serving->result.serve = serve;
    serving->rows = rows;
    gt_progress_begin(&progress, "simulating", arguments->model.quiet);
    if (status == 0)
        status = gt_serve_simulate(serve, &asked, error);
    gt_progress_end(&progress);
    gt_serve_result_finish(&serving->result);
    if (status == 0)
        status = saturate_all(arguments, serve, tables->saturation, error);
    if (status == 0 && tables->sweep != NULL)
        gt_serve_sweep_add(tables->sweep, &serving->result);
    else if (status == 0)
        gt_serve_print(&serving->result, tables->saturation, arguments->format);
    gt_serve_result_free(&serving->result);
    free(serving);
    return status;
}

static void set_load(struct gt_serve_load *serve, double load)
{
    for (uint32_t i = 0; !isnan(load) && i < serve->file.tenant_count; i++)
        if (!isnan(serve->file.tenants[i].load))
            serve->file.tenants[i].load = load;
    gt_serve_set_rates(serve);
}

/* All policies at all loads. */
static int serve_all(const struct arguments *arguments, struct gt_serve_load *serve, struct gt_serve_rows *rows,
                     struct gt_error *error)
{
    const char *said = serve->file.policy != NULL ? serve->file.policy : "none";
    uint32_t policies = arguments->policy_count > 0 ? arguments->policy_count : 1;
    uint32_t loads = arguments->load_count > 0 ? arguments->load_count : 1;
    struct tables tables = {
        .sweep = policies * loads > 1 ? gt_serve_sweep_table() : NULL,
        .saturation = arguments->saturation ? gt_serve_saturation_table() : NULL,
    };
    int status = 0;

    for (uint32_t i = 0; status == 0 && i < policies * loads; i++) {
        double load = arguments->load_count > 0 ? arguments->loads[i % loads] : NAN;

        status =
            gt_serve_set_policy(serve, arguments->policy_count > 0 ? arguments->policies[i / loads] : said, error);
        set_load(serve, load);
        if (status == 0 && gt_serve_is_right_sized(serve))
            status = gt_serve_right_size(serve, arguments->model.seed, !arguments->no_noise, arguments->model.quiet,
                                         error);
        if (status == 0)
            status = serve_one(arguments, serve, &tables, load, rows, i == 0, error);
    }
    if (status == 0 && tables.sweep != NULL)
        gt_tables_print(stdout, arguments->format, (struct gt_table *[]){ tables.sweep, tables.saturation },
                        tables.saturation != NULL ? 2 : 1);
    if (tables.sweep != NULL)
        gt_table_free(tables.sweep);
    if (tables.saturation != NULL)
        gt_table_free(tables.saturation);
    return status;
}

/* Before anything is simulated: are there such policies, and tenants that --load is for? */
static int check_asked(const struct arguments *arguments, struct gt_serve_load *serve, struct gt_error *error)
{
    bool stated = false;

    for (uint32_t i = 0; i < arguments->policy_count; i++)
        if (gt_serve_policy_find(&serve->load, arguments->policies[i], error) != 0)
            return -1;
    for (uint32_t i = 0; i < serve->file.tenant_count; i++)
        stated |= !isnan(serve->file.tenants[i].load);
    if (arguments->load_count > 0 && !stated)
        return gt_error_set(error, "%s: --load is for tenants that state a \"load\", and none does", arguments->path);
    return 0;
}

/* The whole command, into a store where one is asked for. */
static int serve_load(const struct arguments *arguments, struct gt_serve_load *serve, struct gt_error *error)
{
    struct gt_serve_rows *rows = NULL;

    if (check_asked(arguments, serve, error) != 0)
        return -1;
    if (arguments->output != NULL && (rows = gt_serve_rows_begin(arguments->output, error)) == NULL)
        return -1;
    if (serve_all(arguments, serve, rows, error) != 0) {
        gt_serve_rows_abandon(rows);
        return -1;
    }
    return rows != NULL ? gt_serve_rows_commit(rows, error) : 0;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .model = GT_MODEL_OPTIONS_DEFAULT };
    struct gt_error error = { "" };
    struct gt_serve_load serve = { 0 };
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    if (gt_profiles_read(&arguments.model.profiles, arguments.model.quiet, &error) != 0 ||
        gt_serve_load_begin(&serve, arguments.path, &arguments.model, arguments.share, &error) != 0 ||
        serve_load(&arguments, &serve, &error) != 0)
        status = gt_fail(&error);
    gt_serve_load_end(&serve);
    gt_profiles_free(&arguments.model.profiles);
    return status;
}

const struct gt_command gt_command_serve = {
    "serve",
    "simulate requests that arrive at tenants of a GPU",
    run,
};
