/* serve.c - `gridtide serve`: requests that arrive at tenants of a GPU, and how long they take. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/serve/serve_print.h"
#include "sim/serve/policy.h"

enum { OPTION_POLICY = 256, OPTION_SHARE, OPTION_LOAD, OPTION_NOISE };
enum { POLICIES_MAX = 32, LOADS_MAX = 100 };

struct arguments {
    struct gt_model_options model;
    const char *path, *share;
    char *policies[POLICIES_MAX];
    uint32_t policy_count;
    double loads[LOADS_MAX];
    uint32_t load_count;
    bool no_noise;
    enum gt_format format;
};

static const struct argp_option options[] = {
    { "policy", OPTION_POLICY, "NAME[,NAME...]", 0,
      "Dispatch policy, instead of the load's: none, fifo, priority, gate, slices or orion; parameters follow the "
      "name: "
      "'slices blocks=132'",
      0 },
    { "share", OPTION_SHARE, "streams|sliced|mps[:PERCENT]|green:SMS", 0,
      "How tenants share the GPU, instead of what the load says: as threads of one process (streams), or each as a "
      "process; "
      "a number per tenant is separated by commas: mps:50,50",
      0 },
    { "load", OPTION_LOAD, "LOAD[,LOAD...]", 0,
      "Load of the tenants that state one, instead of theirs; 1 is all that a tenant can serve alone", 0 },
    { "noise", OPTION_NOISE, "on|off", 0,
      "Host calls vary from request to request (on, the default), or take the same time", 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};

static void add_policies(struct argp_state *state, struct arguments *arguments, char *text)
{
    for (char *save, *word = strtok_r(text, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        if (arguments->policy_count == POLICIES_MAX)
            argp_error(state, "--policy names more than %d", POLICIES_MAX);
        arguments->policies[arguments->policy_count++] = word;
    }
    if (arguments->policy_count == 0)
        argp_error(state, "--policy needs a name");
}

static void add_loads(struct argp_state *state, struct arguments *arguments, char *text)
{
    for (char *save, *word = strtok_r(text, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        char *end;
        double load = strtod(word, &end);

        if (*end != '\0' || !(load > 0 && load <= 100))
            argp_error(state, "--load needs numbers more than 0, and 100 at most, not '%s'", word);
        if (arguments->load_count == LOADS_MAX)
            argp_error(state, "--load has more than %d", LOADS_MAX);
        arguments->loads[arguments->load_count++] = load;
    }
    if (arguments->load_count == 0)
        argp_error(state, "--load needs a number");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->model; return 0;
    case OPTION_POLICY: add_policies(state, arguments, text); return 0;
    case OPTION_SHARE: arguments->share = text; return 0;
    case OPTION_LOAD: add_loads(state, arguments, text); return 0;
    case OPTION_NOISE: arguments->no_noise = gt_option_either(state, "noise", text, "on", "off") == 1; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "load", text, &arguments->path); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a load"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "LOAD.jsonl",
    "Simulate requests that arrive at tenants that share a GPU: latencies, deadlines missed, where the time went and why "
    "requests were late.\vThe load is a file of JSON lines: a line for the load, then one for each tenant, with the trace of a "
    "request and when requests arrive; gridtide-traces(7) has its fields. Arrivals do not wait for completions, except "
    "closed ones. With several policies or loads, a row for each is printed.",
    gt_model_children, NULL, NULL,
};
/* clang-format on */

/* One policy, one load. */
static int simulate(const struct arguments *arguments, struct gt_serve_result *result,
                    const struct gt_serve_load *serve, struct gt_error *error)
{
    struct gt_progress progress;
    struct gt_probe probe = { .user = &progress, .progress = gt_progress_probe };
    int status;

    memset(result, 0, sizeof *result);
    result->serve = serve;
    gt_progress_begin(&progress, "simulating", arguments->model.quiet);
    status = gt_serve_simulate(serve, arguments->model.seed, !arguments->no_noise, gt_serve_result_take, result,
                               &probe, error);
    gt_progress_end(&progress);
    if (status == 0)
        gt_serve_result_finish(result);
    return status;
}

static int serve_one(const struct arguments *arguments, const struct gt_serve_load *serve, struct gt_table *sweep,
                     struct gt_error *error)
{
    struct gt_serve_result result;
    int status = simulate(arguments, &result, serve, error);

    if (status == 0 && sweep != NULL)
        gt_serve_sweep_add(sweep, &result);
    else if (status == 0)
        gt_serve_print(&result, arguments->format);
    gt_serve_result_free(&result);
    return status;
}

/* All policies at all loads. */
static int serve_all(const struct arguments *arguments, struct gt_serve_load *serve, struct gt_error *error)
{
    uint32_t policies = arguments->policy_count > 0 ? arguments->policy_count : 1;
    uint32_t loads = arguments->load_count > 0 ? arguments->load_count : 1;
    struct gt_table *sweep = policies * loads > 1 ? gt_serve_sweep_table() : NULL;
    int status = 0;

    for (uint32_t i = 0; status == 0 && i < policies * loads; i++) {
        const char *said = serve->file.policy != NULL ? serve->file.policy : "none";

        status =
            gt_serve_set_policy(serve, arguments->policy_count > 0 ? arguments->policies[i / loads] : said, error);
        for (uint32_t t = 0; arguments->load_count > 0 && t < serve->file.tenant_count; t++)
            if (!isnan(serve->file.tenants[t].load))
                serve->file.tenants[t].load = arguments->loads[i % loads];
        gt_serve_set_rates(serve);
        if (status == 0)
            status = serve_one(arguments, serve, sweep, error);
    }
    if (status == 0 && sweep != NULL)
        gt_tables_print(stdout, arguments->format, &sweep, 1);
    if (sweep != NULL)
        gt_table_free(sweep);
    return status;
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
        serve_all(&arguments, &serve, &error) != 0)
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
