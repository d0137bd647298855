/* batch.c - `gridtide batch`: an inference engine that batches requests, and how long they wait for tokens. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/serve/batch_print.h"

enum { OPTION_POLICY = 256, OPTION_DEVICE, OPTION_RATE, OPTION_COSTS };
enum { POLICIES_MAX = 64, RATES_MAX = 100, REQUESTS_MAX = 10000000 };

struct arguments {
    struct gt_model_options model;
    const char *path;
    char *policies[POLICIES_MAX];
    uint32_t policy_count;
    double rates[RATES_MAX];
    uint32_t rate_count;
    bool costs;
    enum gt_format format;
};

static const struct argp_option options[] = {
    { "policy", OPTION_POLICY, "NAME[,NAME...]", 0,
      "Batching policy, instead of the engine's: continuous, chunked, decode-first, static or split; parameters "
      "follow the "
      "name: 'chunked tokens=256'",
      0 },
    { "rate", OPTION_RATE, "RATE[,RATE...]", 0, "Requests per second that arrive, instead of the engine file's", 0 },
    { "device", OPTION_DEVICE, "NAME|FILE.ini", 0,
      "The GPU, by name or device file (default: the one that the engine or a trace names)", 0 },
    { "costs", OPTION_COSTS, NULL, 0, "Print what passes of which sizes cost, instead of serving requests", 0 },
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("engine, latency, tokens, assumptions, sweep, decode, prefill"),
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case OPTION_DEVICE: arguments->model.device = text; return 0;
    case OPTION_POLICY:
        gt_option_words(state, "policy", text, arguments->policies, POLICIES_MAX, &arguments->policy_count);
        return 0;
    case OPTION_RATE:
        gt_option_reals(state, "rate", text, 1e9, arguments->rates, RATES_MAX, &arguments->rate_count);
        return 0;
    case OPTION_COSTS: arguments->costs = true; return 0;
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'q': arguments->model.quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "engine", text, &arguments->path); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name an engine file"); return 0;
    case ARGP_KEY_END:
        for (int kind = 0; kind < GT_PASS_KINDS; kind++)
            gt_option_table_needs(state, gt_pass_kind_names[kind], "--costs", arguments->costs);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "ENGINE.jsonl",
    "Simulate an inference engine that batches requests: time to the first token, time per output token, throughput, and where "
    "the time between tokens goes.\vThe engine is a file of JSON lines: a line for the engine and its limits, one for each "
    "recorded pass of prefill or decode, and one for the requests; gridtide-batch(1) has its fields. With several policies or "
    "rates, a row for each is printed.",
    NULL, NULL, NULL,
};
/* clang-format on */

/* What is simulated once, and asked again and again. */
struct batching {
    const struct arguments *arguments;
    struct gt_engine_file file;
    struct gt_pass_template *templates;
    struct gt_pass_costs costs;
    struct gt_pass_sources sources;
    struct gt_batch_engine engine;
    const char *policy;
    double per_s;
    struct gt_table *sweep; /* NULL: there is one run, printed in full */
    bool beside, divided;   /* a policy so far puts prompts beside sequences, divides the SMs */
};

/* The requests, which fit the engine; NULL with the reason. */
static struct gt_token_request *draw(const struct batching *b, uint32_t *count, struct gt_error *error)
{
    struct gt_arrivals arrivals = b->file.arrivals;
    struct gt_token_request *requests;
    int status = 0;

    if (!isnan(b->per_s))
        arrivals.per_s = b->per_s;
    requests = gt_token_requests_draw(&arrivals, &b->file.prompt, &b->file.output, b->file.file.prompt_tokens,
                                      b->file.file.output_tokens, REQUESTS_MAX, count);
    if (*count == 0)
        status = gt_error_set(error, "no request arrives");
    else if (*count == REQUESTS_MAX)
        status = gt_error_set(error,
                              "%d requests or more arrive; give them a smaller \"count\", or the engine \"seconds\"",
                              REQUESTS_MAX);
    if (status == 0 && gt_batch_engine_check(&b->engine, requests, *count, error) == 0)
        return requests;
    free(requests);
    gt_error_prefix(error, "%s: ", b->arguments->path);
    return NULL;
}

/* How far the costs must reach for these requests. */
static void reach(const struct batching *b, const struct gt_token_request *requests, uint32_t count,
                  struct gt_pass_limits *limits)
{
    limits->sequences = b->file.sequences > limits->sequences ? b->file.sequences : limits->sequences;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t context = requests[i].prompt_tokens + requests[i].output_tokens;

        limits->context = context > limits->context ? context : limits->context;
        limits->before = requests[i].prompt_tokens > limits->before ? requests[i].prompt_tokens : limits->before;
    }
    limits->tokens = limits->context + limits->sequences; /* of one that was evicted, beside all others */
}

static const char *policy_of(const struct batching *b, uint32_t index)
{
    if (b->arguments->policy_count > 0)
        return b->arguments->policies[index];
    return b->file.policy != NULL ? b->file.policy : gt_batch_policies[0].named.name;
}

static void tell_progress(void *progress, uint64_t done, uint64_t total)
{
    gt_progress_update(progress, done, total);
}

/* Costs on a part of the SMs, for both lanes of a policy that divides them. */
struct lane_costs {
    struct gt_pass_costs costs[GT_LANES];
    struct gt_pass_sources sources[GT_LANES];
};

static void free_lanes(struct lane_costs *lanes)
{
    for (int lane = 0; lane < GT_LANES; lane++)
        gt_pass_costs_free(&lanes->costs[lane], &lanes->sources[lane]);
}

static int divide(struct batching *b, const struct gt_pass_limits *limits, struct lane_costs *lanes,
                  struct gt_error *error)
{
    const struct gt_device *device = gt_pass_template_device(b->templates);
    uint32_t all = device->sms;
    uint32_t prefill = (uint32_t)b->engine.parameters[b->engine.policy->sms_parameter];

    if (prefill >= all)
        return gt_error_set(error, "policy '%s': the GPU has %u SMs; prompts can have 1 to %u of them", b->policy,
                            all, all - 1);
    for (int lane = 0; lane < GT_LANES; lane++) {
        uint32_t sms = lane == GT_LANE_PREFILL ? prefill : all - prefill;

        b->engine.beside[lane] = device->products_part * (all - sms) / all;
        if (gt_pass_costs_find(&b->file, b->templates, limits, sms, b->arguments->model.quiet, &lanes->costs[lane],
                               &lanes->sources[lane], error) != 0)
            return -1;
        b->engine.costs[lane] = &lanes->costs[lane];
    }
    return 0;
}

static int run_engine(struct batching *b, const struct gt_token_request *requests, uint32_t count,
                      struct gt_error *error)
{
    struct gt_token_record *records = gt_calloc(count + 1ull, sizeof *records);
    struct gt_batch_summary summary;
    struct gt_progress progress;
    const struct gt_batch_result result = { .file = &b->file,
                                            .policy = b->policy,
                                            .per_s = b->per_s,
                                            .requests = requests,
                                            .records = records,
                                            .count = count,
                                            .summary = &summary,
                                            .engine = &b->engine,
                                            .basis = { &b->sources, b->beside, b->divided } };
    int status;

    gt_progress_begin(&progress, "simulating requests", b->arguments->model.quiet);
    status = gt_batch_engine_run(&b->engine, requests, count, tell_progress, &progress, records, &summary, error);
    gt_progress_end(&progress);
    if (status == 0 && b->sweep != NULL)
        gt_batch_sweep_add(b->sweep, &result);
    else if (status == 0)
        gt_batch_print(&result, b->arguments->format);
    free(records);
    return status;
}

static int run_policy(struct batching *b, const struct gt_pass_limits *limits, struct gt_error *error)
{
    struct lane_costs lanes;
    struct gt_token_request *requests;
    uint32_t count;
    int status = 0;

    memset(&lanes, 0, sizeof lanes);
    b->engine.policy = gt_batch_policy_find(b->policy, b->engine.parameters, error);
    if (b->engine.policy == NULL)
        return -1;
    b->engine.costs[GT_LANE_DECODE] = &b->costs;
    b->beside |= b->engine.policy->beside;
    b->divided |= b->engine.policy->sms_parameter >= 0;
    if (b->engine.policy->sms_parameter >= 0)
        status = divide(b, limits, &lanes, error);
    requests = draw(b, &count, error);
    if (requests == NULL)
        status = -1;
    if (status == 0)
        status = run_engine(b, requests, count, error);
    free(requests);
    free_lanes(&lanes);
    return status;
}

static int find_costs(struct batching *b, struct gt_pass_limits *limits, struct gt_error *error)
{
    uint32_t count;
    struct gt_token_request *requests = draw(b, &count, error);

    if (requests == NULL)
        return -1;
    reach(b, requests, count, limits);
    free(requests);
    b->templates = gt_pass_templates_read(&b->file, &b->arguments->model, error);
    if (b->templates == NULL)
        return -1;
    return gt_pass_costs_find(&b->file, b->templates, limits, 0, b->arguments->model.quiet, &b->costs, &b->sources,
                              error);
}

/* Of the first policy: either kind of pass on the SMs that it has. */
static int print_costs(struct batching *b, const struct gt_pass_limits *limits, struct gt_error *error)
{
    struct lane_costs lanes;
    struct gt_pass_costs costs = b->costs;
    int status = 0;

    memset(&lanes, 0, sizeof lanes);
    b->policy = policy_of(b, 0);
    b->engine.policy = gt_batch_policy_find(b->policy, b->engine.parameters, error);
    if (b->engine.policy->sms_parameter >= 0) {
        status = divide(b, limits, &lanes, error);
        costs.grids[GT_PASS_DECODE] = lanes.costs[GT_LANE_DECODE].grids[GT_PASS_DECODE];
        costs.grids[GT_PASS_PREFILL] = lanes.costs[GT_LANE_PREFILL].grids[GT_PASS_PREFILL];
    }
    if (status == 0)
        gt_batch_costs_print(&costs, b->arguments->format);
    free_lanes(&lanes);
    return status;
}

/* All policies at all rates. */
static int run_all(struct batching *b, struct gt_error *error)
{
    const struct arguments *arguments = b->arguments;
    uint32_t policies = arguments->policy_count > 0 ? arguments->policy_count : 1;
    uint32_t rates = arguments->rate_count > 0 ? arguments->rate_count : 1;
    struct gt_pass_limits limits = { 1, 1, 1, 0 };
    int status = find_costs(b, &limits, error);

    if (status == 0 && arguments->costs)
        return print_costs(b, &limits, error);
    b->sweep = policies * rates > 1 ? gt_batch_sweep_table() : NULL;
    for (uint32_t i = 0; status == 0 && i < policies * rates; i++) {
        b->policy = policy_of(b, i / rates);
        if (arguments->rate_count > 0)
            b->per_s = arguments->rates[i % rates];
        status = run_policy(b, &limits, error);
    }
    if (status == 0 && b->sweep != NULL)
        gt_batch_sweep_print(b->sweep, &(struct gt_batch_basis){ &b->sources, b->beside, b->divided },
                             arguments->format);
    if (b->sweep != NULL)
        gt_table_free(b->sweep);
    return status;
}

/* Before anything is simulated: are there such policies, and a rate that --rate is for? */
static int check_asked(struct batching *b, struct gt_error *error)
{
    for (uint32_t i = 0; i < (b->arguments->policy_count > 0 ? b->arguments->policy_count : 1); i++)
        if (gt_batch_policy_find(policy_of(b, i), b->engine.parameters, error) == NULL)
            return -1;
    if (b->arguments->rate_count > 0 && b->file.arrivals.kind == GT_ARRIVALS_FILE)
        return gt_error_set(error,
                            "%s: --rate is for requests that are drawn; these come from a file: use its \"speed\"",
                            b->arguments->path);
    return 0;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .model = GT_MODEL_OPTIONS_DEFAULT };
    struct batching b = { .arguments = &arguments };
    struct gt_error error = { "" };
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    if (gt_engine_file_read(&b.file, arguments.path, &error) != 0) {
        status = gt_fail(&error);
    } else {
        b.per_s = b.file.arrivals.per_s;
        b.engine.sequences = b.file.sequences;
        b.engine.kv_tokens = b.file.kv_tokens;
        b.engine.padding = b.file.padding;
        if (check_asked(&b, &error) != 0 || run_all(&b, &error) != 0)
            status = gt_fail(&error);
    }
    gt_pass_costs_free(&b.costs, &b.sources);
    gt_pass_templates_free(b.templates, b.file.pass_count);
    gt_engine_file_free(&b.file);
    return status;
}

const struct gt_command gt_command_batch = {
    "batch",
    "simulate an inference engine that batches requests",
    run,
};
