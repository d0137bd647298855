#include "sim/batching/batch_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const gt_token_part_names[GT_TOKEN_PARTS] = {
    [GT_TOKEN_OWN] = "own",         [GT_TOKEN_BATCH] = "batch",     [GT_TOKEN_BESIDE] = "beside",
    [GT_TOKEN_PREFILL] = "prefill", [GT_TOKEN_EVICTED] = "evicted",
};

struct sequence {
    uint32_t made;       /* tokens */
    uint32_t to_prefill; /* its prompt; of one that was evicted, what it had made, too */
    uint32_t prefilled;
    gt_time_ps evicted_ps;
    double at[GT_TOKEN_PARTS]; /* the run's sums when it began to decode */
};

struct lane {
    bool busy, decodes; /* decodes: the first `rows` of the running sequences */
    uint32_t tokens, rows;
    struct gt_pass pass;
    gt_time_ps begin_ps, end_ps;
    double slower; /* from now on it takes so many times as long as alone */
};

struct run {
    const struct gt_batch_engine *engine;
    const struct gt_token_request *requests;
    struct gt_token_record *records;
    struct gt_batch_summary *summary;
    struct sequence *sequences; /* by request */
    uint32_t count, arrived, done;
    uint32_t next;                    /* of those that arrived: the first that was not admitted */
    uint32_t *evicted, evicted_count; /* the last one is admitted first */
    uint32_t *running,
        running_count;   /* the latest admitted last, but for those that took the place of one that is done */
    uint32_t prefilling; /* GT_NONE: none */
    uint64_t held;       /* tokens in KV memory */
    bool decoded;
    uint32_t since_prefill;
    struct lane lanes[GT_LANES];
    double sums[GT_TOKEN_PARTS]; /* of sequences that decode all the time, ps */
    gt_time_ps now_ps;
};

static bool has_lanes(const struct run *run)
{
    return run->engine->policy->sms_parameter >= 0;
}

/* Tokens that a running sequence has in the cache: the latest one it made is not in it yet. */
static uint32_t length_of(const struct run *run, uint32_t request)
{
    return run->requests[request].prompt_tokens + run->sequences[request].made - 1;
}

static bool is_done(const struct run *run, uint32_t request)
{
    return run->sequences[request].made >= run->requests[request].output_tokens;
}

/* The first that waits; GT_NONE: none does. */
static uint32_t first_waiting(const struct run *run)
{
    if (run->evicted_count > 0)
        return run->evicted[run->evicted_count - 1];
    return run->next < run->arrived ? run->next : GT_NONE;
}

static bool may_admit(const struct run *run)
{
    uint32_t first = first_waiting(run);

    if (first == GT_NONE || run->prefilling != GT_NONE || run->running_count >= run->engine->sequences)
        return false;
    return run->running_count == 0 ||
           run->held + run->sequences[first].to_prefill + run->running_count + 1 <= run->engine->kv_tokens;
}

static void admit(struct run *run)
{
    uint32_t request = first_waiting(run);

    if (run->evicted_count > 0) {
        run->evicted_count--;
    } else {
        run->next++;
        run->records[request].admitted_ps = run->now_ps;
    }
    run->prefilling = request;
    run->sequences[request].prefilled = 0;
    run->held += run->sequences[request].to_prefill;
}

/* The part between tokens that ends here: what the run's sums have grown by since it began to decode. */
static void take_parts(struct run *run, uint32_t request)
{
    for (int part = 0; part < GT_TOKEN_PARTS; part++)
        run->records[request].part_ps[part] += (gt_time_ps)(run->sums[part] - run->sequences[request].at[part]);
}

/* The sequences admitted last make room for a token of each that stays. */
static void evict(struct run *run)
{
    while (run->running_count > 1 && run->held + run->running_count > run->engine->kv_tokens) {
        uint32_t request = run->running[--run->running_count];
        struct sequence *sequence = &run->sequences[request];

        run->held -= length_of(run, request);
        if (is_done(run, request)) /* padding of a static batch */
            continue;
        sequence->to_prefill = run->requests[request].prompt_tokens + sequence->made;
        sequence->evicted_ps = run->now_ps;
        take_parts(run, request);
        run->records[request].evictions++;
        run->summary->evictions++;
        run->evicted[run->evicted_count++] = request;
    }
}

/* How far the cache is read, a token of each sequence included. */
static uint32_t context_of(const struct run *run, uint32_t rows)
{
    uint32_t padding = run->engine->padding, longest = 0;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < rows; i++) {
        uint32_t length = length_of(run, run->running[i]) + 1;

        longest = length > longest ? length : longest;
        sum += length;
    }
    return padding > 0 ? (longest + padding - 1) / padding * padding : rows > 0 ? (uint32_t)(sum / rows) : 0;
}

static void begin(struct run *run, enum gt_batch_lane index, uint32_t tokens, bool decodes)
{
    struct lane *lane = &run->lanes[index];

    if (decodes)
        evict(run);
    *lane = (struct lane){ .busy = true, .decodes = decodes, .tokens = tokens, .begin_ps = run->now_ps };
    lane->rows = decodes ? run->running_count : 0;
    lane->pass = (struct gt_pass){ .tokens = tokens,
                                   .before = tokens > 0 ? run->sequences[run->prefilling].prefilled : 0,
                                   .sequences = lane->rows,
                                   .context = context_of(run, lane->rows) };
    run->since_prefill = tokens > 0 ? 0 : run->since_prefill + 1;
    run->decoded |= decodes;
    if (run->held + lane->rows > run->summary->most_kv_tokens)
        run->summary->most_kv_tokens = run->held + lane->rows;
    lane->slower = 1;
    lane->end_ps = run->now_ps + gt_pass_ps(run->engine->costs[index], &lane->pass);
}

/* Passes of both lanes slow each other down while they run at the same time. */
static void set_pace(struct run *run)
{
    const struct lane *decode = &run->lanes[GT_LANE_DECODE], *prefill = &run->lanes[GT_LANE_PREFILL];
    double products = 0;

    if (decode->busy && prefill->busy)
        products = gt_pass_products(run->engine->costs[GT_LANE_DECODE], &decode->pass) *
                   gt_pass_products(run->engine->costs[GT_LANE_PREFILL], &prefill->pass);
    for (int i = 0; i < GT_LANES; i++) {
        struct lane *lane = &run->lanes[i];
        double slower = 1 + run->engine->beside[i] * products;

        if (!lane->busy || slower == lane->slower)
            continue;
        lane->end_ps = run->now_ps + (gt_time_ps)((double)(lane->end_ps - run->now_ps) / lane->slower * slower);
        lane->slower = slower;
    }
}

/* What one pass of all lanes' is: a part of a prompt, sequences that decode, or both. */
static void plan(struct run *run)
{
    const struct gt_batch_policy *policy = run->engine->policy;
    struct gt_batch_view view = { run->running_count, may_admit(run),     run->prefilling != GT_NONE,
                                  run->decoded,       run->since_prefill, run->engine->parameters };
    uint32_t tokens = view.prefilling || view.may_admit ? policy->tokens(&view) : 0;
    bool prefill_free = !run->lanes[has_lanes(run) ? GT_LANE_PREFILL : GT_LANE_DECODE].busy;
    bool decode_free = !run->lanes[GT_LANE_DECODE].busy;

    if (tokens > 0 && prefill_free) {
        uint32_t left;

        if (!view.prefilling)
            admit(run);
        left = run->sequences[run->prefilling].to_prefill - run->sequences[run->prefilling].prefilled;
        tokens = tokens < left ? tokens : left;
    } else {
        tokens = 0;
    }
    if (has_lanes(run) && tokens > 0)
        begin(run, GT_LANE_PREFILL, tokens, false);
    if (has_lanes(run) && decode_free && run->running_count > 0)
        begin(run, GT_LANE_DECODE, 0, true);
    if (!has_lanes(run) && (tokens > 0 || (decode_free && run->running_count > 0)))
        begin(run, GT_LANE_DECODE, tokens, run->running_count > 0 && (tokens == 0 || policy->beside));
}

/* A pass has taken so long: what of it was whose for sequences that decode. */
static void sum_parts(struct run *run, const struct lane *lane)
{
    const struct gt_pass_costs *costs = run->engine->costs[GT_LANE_DECODE];
    double took_ps = (double)(run->now_ps - lane->begin_ps), own_ps, decode_ps;
    struct gt_pass pass = lane->pass;

    if (!lane->decodes) {
        if (!has_lanes(run))
            run->sums[GT_TOKEN_PREFILL] += took_ps;
        return;
    }
    pass.tokens = pass.before = 0;
    decode_ps = fmin(took_ps, (double)gt_pass_ps(costs, &pass));
    pass.sequences = 1;
    own_ps = fmin(decode_ps, (double)gt_pass_ps(costs, &pass));
    run->sums[GT_TOKEN_OWN] += own_ps;
    run->sums[GT_TOKEN_BATCH] += decode_ps - own_ps;
    run->sums[GT_TOKEN_BESIDE] += took_ps - decode_ps;
    run->summary->sequence_ps += took_ps * lane->rows;
    run->summary->decode_ps += run->now_ps - lane->begin_ps;
}

static void finish(struct run *run, uint32_t request)
{
    run->records[request].end_ps = run->now_ps;
    run->done++;
    run->summary->output_tokens += run->requests[request].output_tokens;
}

/* Each of the rows has made a token. */
static void make_tokens(struct run *run, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t request = run->running[i];

        if (is_done(run, request)) /* padding of a static batch */
            continue;
        run->sequences[request].made++;
        run->held++;
        if (!is_done(run, request))
            continue;
        take_parts(run, request);
        finish(run, request);
    }
}

static void end_prompt(struct run *run)
{
    uint32_t request = run->prefilling;
    struct sequence *sequence = &run->sequences[request];
    struct gt_token_record *record = &run->records[request];

    run->prefilling = GT_NONE;
    if (sequence->made == 0)
        record->first_ps = run->now_ps;
    else
        record->part_ps[GT_TOKEN_EVICTED] += run->now_ps - sequence->evicted_ps;
    sequence->made++;
    memcpy(sequence->at, run->sums, sizeof sequence->at);
    run->running[run->running_count++] = request;
    if (is_done(run, request))
        finish(run, request);
}

/* The last one takes the place of one that is done. */
static void remove_done(struct run *run)
{
    uint32_t left = 0;

    for (uint32_t i = 0; run->engine->policy->keeps_done && i < run->running_count; i++)
        left += !is_done(run, run->running[i]);
    if (left > 0)
        return;
    for (uint32_t i = 0; i < run->running_count;) {
        if (!is_done(run, run->running[i])) {
            i++;
            continue;
        }
        run->held -= length_of(run, run->running[i]);
        run->running[i] = run->running[--run->running_count];
    }
    if (run->running_count == 0)
        run->decoded = false;
}

static void end(struct run *run, enum gt_batch_lane index)
{
    struct lane *lane = &run->lanes[index];

    lane->busy = false;
    run->summary->passes[index]++;
    run->summary->busy_ps[index] += run->now_ps - lane->begin_ps;
    sum_parts(run, lane);
    if (lane->decodes)
        make_tokens(run, lane->rows);
    if (lane->tokens > 0) {
        struct sequence *sequence = &run->sequences[run->prefilling];

        sequence->prefilled += lane->tokens;
        if (sequence->prefilled == sequence->to_prefill)
            end_prompt(run);
    }
    if (!run->lanes[GT_LANE_DECODE].busy) /* else its rows stay where they are */
        remove_done(run);
}

/* The next time at which something happens. */
static gt_time_ps next_ps(const struct run *run)
{
    gt_time_ps next = run->arrived < run->count ? run->requests[run->arrived].arrival_ps : GT_TIME_NONE;

    for (int i = 0; i < GT_LANES; i++)
        if (run->lanes[i].busy && run->lanes[i].end_ps < next)
            next = run->lanes[i].end_ps;
    return next;
}

int gt_batch_engine_check(const struct gt_batch_engine *engine, const struct gt_token_request *requests,
                          uint32_t count, struct gt_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if ((uint64_t)requests[i].prompt_tokens + requests[i].output_tokens > engine->kv_tokens)
            return gt_error_set(error,
                                "request %u has %u tokens in its prompt and %u in its output, more than KV memory "
                                "holds (%llu); give the engine more \"kv_tokens\"",
                                i + 1, requests[i].prompt_tokens, requests[i].output_tokens,
                                (unsigned long long)engine->kv_tokens);
    return 0;
}

/* Until all are done.  -1: that takes longer than can be simulated. */
static int serve(struct run *run, void (*progress)(void *user, uint64_t done, uint64_t total), void *user,
                 struct gt_error *error)
{
    while (run->done < run->count) {
        run->now_ps = next_ps(run);
        if (run->now_ps > GT_TIME_LIMIT_PS)
            return gt_error_set(error,
                                "%u of %u requests are not done after 53 days, which is all that can be simulated",
                                run->count - run->done, run->count);
        while (run->arrived < run->count && run->requests[run->arrived].arrival_ps <= run->now_ps)
            run->arrived++;
        for (int i = 0; i < GT_LANES; i++)
            if (run->lanes[i].busy && run->lanes[i].end_ps <= run->now_ps)
                end(run, (enum gt_batch_lane)i);
        plan(run);
        set_pace(run);
        if (progress != NULL)
            progress(user, run->done, run->count);
    }
    return 0;
}

int gt_batch_engine_run(const struct gt_batch_engine *engine, const struct gt_token_request *requests, uint32_t count,
                        void (*progress)(void *user, uint64_t done, uint64_t total), void *user,
                        struct gt_token_record *records, struct gt_batch_summary *summary, struct gt_error *error)
{
    struct run run = {
        .engine = engine, .requests = requests, .records = records, .summary = summary, .count = count
    };
    int status;

    if (gt_batch_engine_check(engine, requests, count, error) != 0)
        return -1;
    memset(records, 0, count * sizeof *records);
    memset(summary, 0, sizeof *summary);
    run.prefilling = GT_NONE;
    run.sequences = gt_calloc(count + 1ull, sizeof *run.sequences);
    run.evicted = gt_calloc(count + 1ull, sizeof *run.evicted);
    run.running = gt_calloc(engine->sequences + 1ull, sizeof *run.running);
    for (uint32_t i = 0; i < count; i++)
        run.sequences[i].to_prefill = requests[i].prompt_tokens;
    status = serve(&run, progress, user, error);
    summary->end_ps = run.now_ps;
    free(run.sequences);
    free(run.evicted);
    free(run.running);
    return status;
}
