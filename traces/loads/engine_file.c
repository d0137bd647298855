#include "traces/loads/engine_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/loads/load_lines.h"

enum { SEQUENCES_MAX = 65536, TOKENS_MAX = 1 << 24 };

struct raw_engine {
    const struct gt_json_token *name, *device, *policy;
    uint32_t sequences, padding;
    uint64_t kv_tokens, seed, warm_up;
    double seconds;
    gt_time_ps between_ps, ttft_ps, tpot_ps;
};
static const struct gt_field engine_fields[] = {
    { "engine", GT_FIELD_TEXT, offsetof(struct raw_engine, name), NULL, 0 },
    { "device", GT_FIELD_TEXT, offsetof(struct raw_engine, device), NULL, 0 },
    { "policy", GT_FIELD_TEXT, offsetof(struct raw_engine, policy), NULL, 0 },
    { "sequences", GT_FIELD_U32, offsetof(struct raw_engine, sequences), NULL, 0 },
    { "kv_tokens", GT_FIELD_U64, offsetof(struct raw_engine, kv_tokens), NULL, 0 },
    { "padding", GT_FIELD_U32, offsetof(struct raw_engine, padding), NULL, 0 },
    { "between", GT_FIELD_TIME, offsetof(struct raw_engine, between_ps), NULL, 0 },
    { "ttft", GT_FIELD_TIME, offsetof(struct raw_engine, ttft_ps), NULL, 0 },
    { "tpot", GT_FIELD_TIME, offsetof(struct raw_engine, tpot_ps), NULL, 0 },
    { "seconds", GT_FIELD_DOUBLE, offsetof(struct raw_engine, seconds), NULL, 0 },
    { "seed", GT_FIELD_U64, offsetof(struct raw_engine, seed), NULL, 0 },
    { "warm_up", GT_FIELD_U64, offsetof(struct raw_engine, warm_up), NULL, 0 },
};
static const struct gt_field_table engine_table = GT_FIELD_TABLE("the engine", engine_fields);

struct raw_pass {
    const struct gt_json_token *trace;
    uint32_t sequences, context, tokens, before;
    uint8_t kind;
};
static const struct gt_field pass_fields[] = {
    { "pass", GT_FIELD_CHOICE, offsetof(struct raw_pass, kind), gt_pass_kind_names, GT_PASS_KINDS },
    { "trace", GT_FIELD_TEXT, offsetof(struct raw_pass, trace), NULL, 0 },
    { "sequences", GT_FIELD_U32, offsetof(struct raw_pass, sequences), NULL, 0 },
    { "context", GT_FIELD_U32, offsetof(struct raw_pass, context), NULL, 0 },
    { "tokens", GT_FIELD_U32, offsetof(struct raw_pass, tokens), NULL, 0 },
    { "before", GT_FIELD_U32, offsetof(struct raw_pass, before), NULL, 0 },
};
static const struct gt_field_table pass_table = GT_FIELD_TABLE("a pass", pass_fields);

struct raw_requests {
    const struct gt_json_token *file, *column;
    double per_s, burst, speed, prompt_tokens, output_tokens, prompt_spread, output_spread;
    uint64_t count;
    uint32_t longest;
    uint8_t arrivals;
};
static const struct gt_field request_fields[] = {
    { "requests", GT_FIELD_CHOICE, offsetof(struct raw_requests, arrivals), gt_arrivals_names, GT_ARRIVALS_KINDS },
    { "file", GT_FIELD_TEXT, offsetof(struct raw_requests, file), NULL, 0 },
    { "column", GT_FIELD_TEXT, offsetof(struct raw_requests, column), NULL, 0 },
    { "speed", GT_FIELD_DOUBLE, offsetof(struct raw_requests, speed), NULL, 0 },
    { "per_s", GT_FIELD_DOUBLE, offsetof(struct raw_requests, per_s), NULL, 0 },
    { "burst", GT_FIELD_DOUBLE, offsetof(struct raw_requests, burst), NULL, 0 },
    { "count", GT_FIELD_U64, offsetof(struct raw_requests, count), NULL, 0 },
    { "prompt_tokens", GT_FIELD_DOUBLE, offsetof(struct raw_requests, prompt_tokens), NULL, 0 },
    { "output_tokens", GT_FIELD_DOUBLE, offsetof(struct raw_requests, output_tokens), NULL, 0 },
    { "prompt_spread", GT_FIELD_DOUBLE, offsetof(struct raw_requests, prompt_spread), NULL, 0 },
    { "output_spread", GT_FIELD_DOUBLE, offsetof(struct raw_requests, output_spread), NULL, 0 },
    { "longest", GT_FIELD_U32, offsetof(struct raw_requests, longest), NULL, 0 },
};
static const struct gt_field_table request_table = GT_FIELD_TABLE("the requests", request_fields);

struct reading {
    struct gt_engine_file *file;
    struct gt_load_lines lines;
    bool begun, asked; /* the engine's line has come; that of the requests */
    gt_time_ps until_ps;
};

static double us_of(gt_time_ps time_ps)
{
    return time_ps == GT_TIME_NONE ? NAN : (double)time_ps / 1e6;
}

static int read_engine(struct reading *reading, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_engine raw = { .seconds = NAN,
                              .seed = 1,
                              .sequences = 256,
                              .kv_tokens = UINT64_MAX,
                              .ttft_ps = GT_TIME_NONE,
                              .tpot_ps = GT_TIME_NONE };
    struct gt_engine_file *file = reading->file;

    if (reading->begun)
        return gt_error_set(error, "a second line of the engine; there is one");
    if (gt_load_fields(&reading->lines, object, &engine_table, &raw, error) != 0)
        return -1;
    if (raw.sequences < 1 || raw.sequences > SEQUENCES_MAX)
        return gt_error_set(error, "\"sequences\" must be from 1 to %d", SEQUENCES_MAX);
    if (raw.padding > TOKENS_MAX)
        return gt_error_set(error, "\"padding\" must be %d tokens at most", TOKENS_MAX);
    if (!isnan(raw.seconds) && !(raw.seconds > 0 && raw.seconds < (double)GT_TIME_LIMIT_PS / 1e12))
        return gt_error_set(error, "\"seconds\" must be more than 0, and less than 53 days");
    reading->until_ps = isnan(raw.seconds) ? GT_TIME_NONE : (gt_time_ps)(raw.seconds * 1e12);
    reading->begun = true;
    file->name = gt_load_text(raw.name);
    file->device = gt_load_text(raw.device);
    file->policy = gt_load_text(raw.policy);
    file->sequences = raw.sequences;
    file->padding = raw.padding;
    file->kv_tokens = raw.kv_tokens;
    file->between_us = (double)raw.between_ps / 1e6;
    file->ttft_us = us_of(raw.ttft_ps);
    file->tpot_us = us_of(raw.tpot_ps);
    file->warm_up = raw.warm_up;
    file->arrivals.seed = raw.seed;
    return 0;
}

/* Does the pass say its sizes, those of its kind and no others? */
static int check_pass(const struct raw_pass *raw, struct gt_error *error)
{
    bool decode = raw->kind == GT_PASS_DECODE;

    if (raw->trace == NULL || raw->trace->type != GT_JSON_STRING)
        return gt_error_set(error, "\"trace\" must name the recording of a pass");
    if (decode ? raw->tokens != 0 || raw->before != 0 : raw->sequences != 0 || raw->context != 0)
        return gt_error_set(error, "a pass of %s has %s", gt_pass_kind_names[raw->kind],
                            decode ? "\"sequences\" and \"context\" alone" : "\"tokens\" and \"before\" alone");
    if (decode &&
        (raw->sequences < 1 || raw->sequences > SEQUENCES_MAX || raw->context < 1 || raw->context > TOKENS_MAX))
        return gt_error_set(
            error,
            "a pass of decode needs its \"sequences\", from 1 to %d, and their \"context\", from 1 to %d "
            "tokens",
            SEQUENCES_MAX, TOKENS_MAX);
    if (!decode && (raw->tokens < 1 || raw->tokens > TOKENS_MAX || raw->before > TOKENS_MAX))
        return gt_error_set(
            error, "a pass of prefill needs its \"tokens\", from 1 to %d, and has at most as many \"before\"",
            TOKENS_MAX);
    return 0;
}

static int read_pass(struct reading *reading, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_engine_file *file = reading->file;
    struct raw_pass raw = { .trace = NULL };
    bool decode;

    if (gt_load_fields(&reading->lines, object, &pass_table, &raw, error) != 0 || check_pass(&raw, error) != 0)
        return -1;
    if (file->pass_count == GT_PASSES_MAX)
        return gt_error_set(error, "more than %d passes", GT_PASSES_MAX);
    decode = raw.kind == GT_PASS_DECODE;
    gt_array_grow(file->passes, file->pass_count, file->pass_room);
    file->passes[file->pass_count++] = (struct gt_recorded_pass){
        .kind = raw.kind,
        .trace = gt_load_beside(&reading->lines, raw.trace),
        .size = decode ? raw.sequences : raw.tokens,
        .depth = decode ? raw.context : raw.before,
        .line = reading->lines.number,
    };
    return 0;
}

static int check_lengths(const struct raw_requests *raw, struct gt_error *error)
{
    double numbers[] = { raw->prompt_tokens, raw->output_tokens };
    double spreads[] = { raw->prompt_spread, raw->output_spread };

    for (int i = 0; i < 2; i++) {
        if (!(numbers[i] >= 1 && numbers[i] <= TOKENS_MAX))
            return gt_error_set(error,
                                "%s arrivals need \"prompt_tokens\" and \"output_tokens\", from 1 to %d in the mean",
                                gt_arrivals_names[raw->arrivals], TOKENS_MAX);
        if (!(spreads[i] >= 0 && spreads[i] <= 10))
            return gt_error_set(error, "\"prompt_spread\" and \"output_spread\" must be from 0 to 10");
    }
    if (raw->longest < 1 || raw->longest > TOKENS_MAX)
        return gt_error_set(error, "\"longest\" must be from 1 to %d tokens", TOKENS_MAX);
    return 0;
}

static int check_requests(const struct raw_requests *raw, const struct reading *reading, struct gt_error *error)
{
    bool file = raw->arrivals == GT_ARRIVALS_FILE;

    if (raw->arrivals == GT_ARRIVALS_CLOSED)
        return gt_error_set(error,
                            "requests of an engine do not wait for each other; closed arrivals are for `serve`");
    if (file != (raw->file != NULL && raw->file->type == GT_JSON_STRING))
        return gt_error_set(error, "\"file\" goes with \"requests\":\"file\"");
    if (raw->count == 0)
        return gt_error_set(error, "\"count\" must be 1 or more");
    if (!(raw->speed > 0 && raw->speed <= 1e9))
        return gt_error_set(error, "\"speed\" must be more than 0, and 1e9 at most");
    if (file)
        return 0;
    if (!(raw->per_s > 0 && raw->per_s <= 1e9))
        return gt_error_set(error, "%s arrivals need \"per_s\", more than 0, and 1e9 at most",
                            gt_arrivals_names[raw->arrivals]);
    if (!(raw->burst >= 1 && raw->burst <= 1e6))
        return gt_error_set(error, "\"burst\" must be from 1 to 1e6 requests");
    if (raw->count == UINT64_MAX && reading->until_ps == GT_TIME_NONE)
        return gt_error_set(error, "how many? give the requests a \"count\", or the engine \"seconds\"");
    return check_lengths(raw, error);
}

static int read_requests_file(struct reading *reading, const struct raw_requests *raw, struct gt_error *error)
{
    struct gt_engine_file *file = reading->file;
    char *path = gt_load_beside(&reading->lines, raw->file), *column = gt_load_text(raw->column);
    const struct gt_arrival_columns columns = { .time = column, .lengths = true, .speed = raw->speed };
    int status = gt_arrival_file_read(&file->file, path, &columns, error);

    file->arrivals.times_ps = file->file.times_ps;
    file->arrivals.time_count = file->file.count;
    free(path);
    free(column);
    return status;
}

static int read_requests(struct reading *reading, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_requests raw = { .per_s = NAN,
                                .burst = 1,
                                .speed = 1,
                                .prompt_tokens = NAN,
                                .output_tokens = NAN,
                                .count = UINT64_MAX,
                                .longest = TOKENS_MAX };
    struct gt_engine_file *file = reading->file;

    if (reading->asked)
        return gt_error_set(error, "a second line of requests; there is one");
    if (gt_load_fields(&reading->lines, object, &request_table, &raw, error) != 0 ||
        check_requests(&raw, reading, error) != 0)
        return -1;
    reading->asked = true;
    file->arrivals = (struct gt_arrivals){ .kind = raw.arrivals,
                                           .per_s = raw.per_s,
                                           .burst = raw.burst,
                                           .seed = file->arrivals.seed,
                                           .most = raw.count == UINT64_MAX ? 0 : raw.count,
                                           .until_ps = reading->until_ps };
    file->prompt = (struct gt_token_lengths){ raw.prompt_tokens, raw.prompt_spread, raw.longest };
    file->output = (struct gt_token_lengths){ raw.output_tokens, raw.output_spread, raw.longest };
    return raw.arrivals == GT_ARRIVALS_FILE ? read_requests_file(reading, &raw, error) : 0;
}

static int read_line(void *user, const struct gt_json_token *object, struct gt_error *error)
{
    struct reading *reading = user;

    if (gt_load_has(object, "engine"))
        return read_engine(reading, object, error);
    if (!reading->begun)
        return gt_error_set(error, "the engine's own line, {\"engine\":\"NAME\"}, must come first");
    if (gt_load_has(object, "pass"))
        return read_pass(reading, object, error);
    if (gt_load_has(object, "requests"))
        return read_requests(reading, object, error);
    return gt_error_set(error, "neither \"engine\" nor \"pass\" nor \"requests\": this is no line of an engine");
}

static int check_whole(const struct reading *reading, struct gt_error *error)
{
    const struct gt_engine_file *file = reading->file;
    bool has[GT_PASS_KINDS] = { false };

    for (uint32_t i = 0; i < file->pass_count; i++)
        has[file->passes[i].kind] = true;
    for (int kind = 0; kind < GT_PASS_KINDS; kind++)
        if (!has[kind])
            return gt_error_set(error,
                                "%s: no recorded pass of %s; a line {\"pass\":\"%s\",\"trace\":\"FILE\",...} is one",
                                reading->lines.path, gt_pass_kind_names[kind], gt_pass_kind_names[kind]);
    return reading->asked
               ? 0
               : gt_error_set(error, "%s: no requests; a line {\"requests\":\"poisson\",\"per_s\":N,...} says which",
                              reading->lines.path);
}

int gt_engine_file_read(struct gt_engine_file *file, const char *path, struct gt_error *error)
{
    struct reading reading = { .file = file, .lines = { .path = path }, .until_ps = GT_TIME_NONE };

    memset(file, 0, sizeof *file);
    return gt_load_lines_read(&reading.lines, read_line, &reading, error) == 0 ? check_whole(&reading, error) : -1;
}

void gt_engine_file_free(struct gt_engine_file *file)
{
    for (uint32_t i = 0; i < file->pass_count; i++)
        free(file->passes[i].trace);
    free(file->passes);
    gt_arrival_file_free(&file->file);
    free(file->name);
    free(file->device);
    free(file->policy);
    memset(file, 0, sizeof *file);
}
