#include "traces/loads/load_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/loads/arrival_file.h"
#include "traces/loads/load_lines.h"

enum { SHOWN = 60 };

struct raw_load {
    const struct gt_json_token *name, *device, *share, *policy;
    double seconds;
    uint64_t seed, warm_up;
};
static const struct gt_field load_fields[] = {
    { "load", GT_FIELD_TEXT, offsetof(struct raw_load, name), NULL, 0 },
    { "device", GT_FIELD_TEXT, offsetof(struct raw_load, device), NULL, 0 },
    { "share", GT_FIELD_TEXT, offsetof(struct raw_load, share), NULL, 0 },
    { "policy", GT_FIELD_TEXT, offsetof(struct raw_load, policy), NULL, 0 },
    { "seconds", GT_FIELD_DOUBLE, offsetof(struct raw_load, seconds), NULL, 0 },
    { "seed", GT_FIELD_U64, offsetof(struct raw_load, seed), NULL, 0 },
    { "warm_up", GT_FIELD_U64, offsetof(struct raw_load, warm_up), NULL, 0 },
};
static const struct gt_field_table load_table = GT_FIELD_TABLE("the load", load_fields);

struct raw_tenant {
    const struct gt_json_token *name, *trace, *share, *range, *file, *column;
    double per_s, load, burst, speed;
    gt_time_ps deadline_ps;
    uint64_t requests;
    uint32_t workers;
    uint8_t class, arrivals;
};
static const struct gt_field tenant_fields[] = {
    { "tenant", GT_FIELD_TEXT, offsetof(struct raw_tenant, name), NULL, 0 },
    { "trace", GT_FIELD_TEXT, offsetof(struct raw_tenant, trace), NULL, 0 },
    { "range", GT_FIELD_TEXT, offsetof(struct raw_tenant, range), NULL, 0 },
    { "class", GT_FIELD_CHOICE, offsetof(struct raw_tenant, class), gt_tenant_class_names, 2 },
    { "arrivals", GT_FIELD_CHOICE, offsetof(struct raw_tenant, arrivals), gt_arrivals_names, GT_ARRIVALS_KINDS },
    { "per_s", GT_FIELD_DOUBLE, offsetof(struct raw_tenant, per_s), NULL, 0 },
    { "load", GT_FIELD_DOUBLE, offsetof(struct raw_tenant, load), NULL, 0 },
    { "burst", GT_FIELD_DOUBLE, offsetof(struct raw_tenant, burst), NULL, 0 },
    { "requests", GT_FIELD_U64, offsetof(struct raw_tenant, requests), NULL, 0 },
    { "file", GT_FIELD_TEXT, offsetof(struct raw_tenant, file), NULL, 0 },
    { "column", GT_FIELD_TEXT, offsetof(struct raw_tenant, column), NULL, 0 },
    { "speed", GT_FIELD_DOUBLE, offsetof(struct raw_tenant, speed), NULL, 0 },
    { "deadline", GT_FIELD_TIME, offsetof(struct raw_tenant, deadline_ps), NULL, 0 },
    { "workers", GT_FIELD_U32, offsetof(struct raw_tenant, workers), NULL, 0 },
    { "share", GT_FIELD_TEXT, offsetof(struct raw_tenant, share), NULL, 0 },
};
static const struct gt_field_table tenant_table = GT_FIELD_TABLE("a tenant", tenant_fields);

struct reading {
    struct gt_load_file *file;
    struct gt_load_lines lines;
    bool begun; /* the load's own line has come */
    gt_time_ps until_ps;
    uint32_t tenant_room;
};

static int read_load(struct reading *reading, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_load raw = { .seconds = NAN, .seed = 1 };

    if (reading->begun)
        return gt_error_set(error, "a second line of the load; one comes first, then a line for each tenant");
    if (gt_load_fields(&reading->lines, object, &load_table, &raw, error) != 0)
        return -1;
    if (!isnan(raw.seconds) && !(raw.seconds > 0 && raw.seconds < (double)GT_TIME_LIMIT_PS / 1e12))
        return gt_error_set(error, "\"seconds\" must be more than 0, and less than 53 days");
    reading->until_ps = isnan(raw.seconds) ? GT_TIME_NONE : (gt_time_ps)(raw.seconds * 1e12);
    reading->begun = true;
    reading->file->name = gt_load_text(raw.name);
    reading->file->device = gt_load_text(raw.device);
    reading->file->share = gt_load_text(raw.share);
    reading->file->policy = gt_load_text(raw.policy);
    reading->file->seed = raw.seed;
    reading->file->warm_up = raw.warm_up;
    return 0;
}

/* Are all the numbers that these arrivals need there, and no others? */
static int check_arrivals(const struct raw_tenant *raw, const struct reading *reading, struct gt_error *error)
{
    bool drawn = raw->arrivals < GT_ARRIVALS_CLOSED;

    if (drawn && isnan(raw->per_s) == isnan(raw->load))
        return gt_error_set(error, "%s arrivals need either \"per_s\" or \"load\"", gt_arrivals_names[raw->arrivals]);
    if (drawn && !isnan(raw->per_s) && !(raw->per_s > 0 && raw->per_s <= 1e9))
        return gt_error_set(error, "\"per_s\" must be more than 0, and 1e9 at most");
    if (drawn && !isnan(raw->load) && !(raw->load > 0 && raw->load <= 100))
        return gt_error_set(
            error, "\"load\" must be more than 0, and 100 at most; 1 is all that the tenant can serve alone");
    if (!drawn && (!isnan(raw->per_s) || !isnan(raw->load)))
        return gt_error_set(error, "%s arrivals have no \"per_s\" and no \"load\"", gt_arrivals_names[raw->arrivals]);
    if (raw->requests == 0)
        return gt_error_set(error, "\"requests\" must be 1 or more");
    if (!(raw->burst >= 1 && raw->burst <= 1e6))
        return gt_error_set(error, "\"burst\" must be from 1 to 1e6 requests");
    if (!(raw->speed > 0 && raw->speed <= 1e9))
        return gt_error_set(error, "\"speed\" must be more than 0, and 1e9 at most");
    if ((raw->arrivals == GT_ARRIVALS_FILE) != (raw->file != NULL && raw->file->type == GT_JSON_STRING))
        return gt_error_set(error, "\"file\" goes with \"arrivals\":\"file\"");
    if (drawn && raw->requests == UINT64_MAX && reading->until_ps == GT_TIME_NONE)
        return gt_error_set(error, "how many? give the tenant \"requests\", or the load \"seconds\"");
    return 0;
}

static int check_tenant(const struct raw_tenant *raw, const struct reading *reading, struct gt_error *error)
{
    const struct gt_load_file *file = reading->file;

    if (raw->name == NULL || raw->name->type != GT_JSON_STRING || raw->name->length == 0)
        return gt_error_set(error, "\"tenant\" must be a name");
    for (uint32_t i = 0; i < file->tenant_count; i++)
        if (strlen(file->tenants[i].name) == raw->name->length &&
            memcmp(file->tenants[i].name, raw->name->text, raw->name->length) == 0)
            return gt_error_set(error, "tenant '%.*s' is already on line %u", SHOWN, file->tenants[i].name,
                                file->tenants[i].line);
    if (file->tenant_count == GT_LOAD_TENANTS_MAX)
        return gt_error_set(error, "more than %d tenants", GT_LOAD_TENANTS_MAX);
    if (raw->trace == NULL || raw->trace->type != GT_JSON_STRING)
        return gt_error_set(error, "\"trace\" must name the trace of a request");
    if (raw->workers < 1 || raw->workers > GT_LOAD_WORKERS_MAX)
        return gt_error_set(error, "\"workers\" must be from 1 to %d", GT_LOAD_WORKERS_MAX);
    return check_arrivals(raw, reading, error);
}

static int read_tenant(struct reading *reading, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_tenant raw = { .per_s = NAN,
                              .load = NAN,
                              .burst = 1,
                              .speed = 1,
                              .workers = 1,
                              .deadline_ps = GT_TIME_NONE,
                              .requests = UINT64_MAX };
    struct gt_load_file *file = reading->file;
    struct gt_load_tenant *tenant;
    struct gt_arrival_columns columns = { .lengths = false };
    struct gt_arrival_file arrivals;
    char *path, *column;
    int status;

    if (gt_load_fields(&reading->lines, object, &tenant_table, &raw, error) != 0 ||
        check_tenant(&raw, reading, error) != 0)
        return -1;
    gt_array_grow(file->tenants, file->tenant_count, reading->tenant_room);
    tenant = &file->tenants[file->tenant_count++];
    *tenant = (struct gt_load_tenant){
        .name = gt_load_text(raw.name),
        .trace = gt_load_beside(&reading->lines, raw.trace),
        .share = gt_load_text(raw.share),
        .range = gt_load_text(raw.range),
        .critical = raw.class == 0,
        .deadline_ps = raw.deadline_ps,
        .workers = raw.workers,
        .load = raw.load,
        .arrivals = { .kind = raw.arrivals,
                      .per_s = raw.per_s,
                      .burst = raw.burst,
                      .seed = file->seed * GT_LOAD_TENANTS_MAX + file->tenant_count,
                      .most = raw.requests == UINT64_MAX ? 0 : raw.requests,
                      .ends_in_time = raw.class == 0,
                      .until_ps = reading->until_ps },
        .line = (uint32_t)reading->lines.number,
    };
    if (raw.arrivals != GT_ARRIVALS_FILE)
        return 0;
    path = gt_load_beside(&reading->lines, raw.file);
    columns.speed = raw.speed;
    columns.time = column = gt_load_text(raw.column);
    status = gt_arrival_file_read(&arrivals, path, &columns, error);
    tenant->arrivals.times_ps = tenant->times_ps = arrivals.times_ps;
    tenant->arrivals.time_count = arrivals.count;
    free(path);
    free(column);
    return status;
}

static int read_line(void *user, const struct gt_json_token *object, struct gt_error *error)
{
    struct reading *reading = user;

    if (gt_load_has(object, "tenant"))
        return reading->begun ? read_tenant(reading, object, error)
                              : gt_error_set(error, "the load's own line, {\"load\":\"NAME\"}, must come first");
    if (gt_load_has(object, "load"))
        return read_load(reading, object, error);
    return gt_error_set(error, "neither \"load\" nor \"tenant\": this is no line of a load");
}

/* Something must end the load: closed arrivals alone go on for ever. */
static int check_end(const struct reading *reading, struct gt_error *error)
{
    const struct gt_load_file *file = reading->file;
    bool ends = reading->until_ps != GT_TIME_NONE;
    uint32_t workers = 0;

    if (file->tenant_count == 0)
        return gt_error_set(error, "%s: no tenants in it; a line {\"tenant\":\"NAME\",\"trace\":\"FILE\",...} is one",
                            reading->lines.path);
    for (uint32_t i = 0; i < file->tenant_count; i++)
        workers += file->tenants[i].workers;
    if (workers > GT_LOAD_WORKERS_MAX)
        return gt_error_set(error, "%s: %u workers in all; %d are the most", reading->lines.path, workers,
                            GT_LOAD_WORKERS_MAX);
    for (uint32_t i = 0; i < file->tenant_count; i++)
        ends |= file->tenants[i].arrivals.kind != GT_ARRIVALS_CLOSED || file->tenants[i].arrivals.most > 0;
    return ends ? 0
                : gt_error_set(error, "%s: all arrivals are closed, and nothing ends them; give the load \"seconds\"",
                               reading->lines.path);
}

int gt_load_file_read(struct gt_load_file *file, const char *path, struct gt_error *error)
{
    struct reading reading = { .file = file, .lines = { .path = path }, .until_ps = GT_TIME_NONE };

    memset(file, 0, sizeof *file);
    return gt_load_lines_read(&reading.lines, read_line, &reading, error) == 0 ? check_end(&reading, error) : -1;
}

void gt_load_file_free(struct gt_load_file *file)
{
    for (uint32_t i = 0; i < file->tenant_count; i++) {
        free(file->tenants[i].name);
        free(file->tenants[i].trace);
        free(file->tenants[i].share);
        free(file->tenants[i].range);
        free(file->tenants[i].times_ps);
    }
    free(file->tenants);
    free(file->name);
    free(file->device);
    free(file->share);
    free(file->policy);
    memset(file, 0, sizeof *file);
}
