/* A sweep's store: what is asked for, what is done, rows as they come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "sim/base/hash.h"
#include "sim/cmd/run/sweep_parts.h"
#include "traces/io/overwrite.h"

static const double flush_s = 0.5;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The hash of a file, and its size: to notice that it is another one. */
static char *digest(const char *path, struct gt_error *error)
{
    unsigned long long hash = GT_HASH_START, size = 0;
    FILE *file = fopen(path, "re");
    unsigned char bytes[1 << 14];
    struct stat status;
    size_t got;

    if (file == NULL || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        gt_error_set(error, "%s: %s", path,
                     file == NULL ? strerror(errno) : "is not a regular file; workers read it several times");
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        hash = gt_hash_bytes(hash, bytes, got);
        size += got;
    }
    if (ferror(file)) {
        gt_error_set(error, "%s: %s", path, strerror(errno));
        fclose(file);
        return NULL;
    }
    fclose(file);
    return gt_format("%016llx-%llu", hash, size);
}

static void write_programs(FILE *out, const struct gt_model_options *model)
{
    for (uint32_t i = 0; i < model->profiles.count; i++)
        fprintf(out, " programs=%s", model->profiles.paths[i]);
    if (model->program_cost)
        fputs(" cost=program", out);
    if (model->task_costs != NULL)
        fprintf(out, " task-costs=%s", model->task_costs);
}

static char *options_text(const struct gt_sweep_arguments *arguments)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_no_memory("a text");
    fprintf(out, "blocks=%s seed=%llu", arguments->bars ? "off" : "on", (unsigned long long)arguments->model.seed);
    if (arguments->model.no_inference)
        fputs(" infer=off", out);
    if (arguments->model.device != NULL)
        fprintf(out, " device=%s", arguments->model.device);
    for (size_t i = 0; i < arguments->independent_count; i++)
        fprintf(out, " independent=%s", arguments->independent[i]);
    write_programs(out, &arguments->model);
    fclose(out);
    return text;
}

static int add_trace(struct gt_sweep_plan *plan, const char *file, struct gt_error *error)
{
    char *bytes = gt_reading_begins_at(file, error) == 0 ? digest(file, error) : NULL;

    if (bytes == NULL)
        return -1;
    plan->traces[plan->trace_count++] = (struct gt_sweep_trace){ .file = gt_strdup(file), .digest = bytes };
    return 0;
}

static void add_parameter(struct gt_sweep_plan *plan, const struct gt_grid_parameter *asked)
{
    struct gt_sweep_parameter *parameter = &plan->parameters[plan->parameter_count++];

    *parameter = (struct gt_sweep_parameter){ .name = gt_strdup(asked->name),
                                              .values = gt_calloc(asked->count, sizeof *parameter->values),
                                              .count = asked->count };
    for (uint32_t i = 0; i < asked->count; i++)
        parameter->values[i] = gt_strdup(asked->values[i].text);
}

int gt_sweep_asked(const struct gt_sweep_arguments *arguments, struct gt_sweep_plan *plan, struct gt_error *error)
{
    *plan = (struct gt_sweep_plan){ .options = options_text(arguments), .program = gt_strdup(PACKAGE_STRING) };
    plan->traces = gt_calloc(arguments->trace_count, sizeof *plan->traces);
    plan->parameters = gt_calloc(arguments->grid.count + 1, sizeof *plan->parameters);
    for (uint32_t i = 0; i < arguments->grid.count; i++)
        add_parameter(plan, &arguments->grid.parameters[i]);
    for (uint32_t i = 0; i < arguments->trace_count; i++)
        if (add_trace(plan, arguments->traces[i], error) != 0)
            return -1;
    return 0;
}

static int note_done(void *user, const struct gt_sweep_row *row, struct gt_error *error)
{
    struct gt_sweep *sweep = user;

    (void)error;
    sweep->left -= sweep->done[row->point] == 0;
    sweep->done[row->point] = 1;
    return 0;
}

static int check(struct gt_sweep *sweep, const struct gt_sweep_plan *asked, struct gt_error *error)
{
    int has = gt_store_has_sweep(sweep->store, error);

    if (has == 0)
        return gt_error_set(error,
                            "%s: this store holds runs, not a sweep; choose another name with "
                            "-o",
                            sweep->path);
    if (has < 0 || gt_sweep_plan_read(sweep->store, &sweep->plan, error) != 0)
        return -1;
    return gt_sweep_plan_check(&sweep->plan, asked, sweep->path, error);
}

int gt_sweep_open(struct gt_sweep *sweep, const char *path, const struct gt_sweep_plan *asked, struct gt_error *error)
{
    *sweep = (struct gt_sweep){ .path = path };
    if ((access(path, F_OK) != 0 || path[0] == '\0') && gt_sweep_create(path, asked, error) != 0)
        return -1;
    sweep->store = gt_store_open(path, true, error);
    if (sweep->store == NULL || check(sweep, asked, error) != 0)
        return -1;
    sweep->points = sweep->left = gt_sweep_points(asked);
    sweep->done = gt_calloc(sweep->points, 1);
    return gt_sweep_each(sweep->store, &sweep->plan, note_done, sweep, error);
}

void gt_sweep_close(struct gt_sweep *sweep)
{
    gt_sweep_plan_free(&sweep->plan);
    gt_store_close(sweep->store);
    free(sweep->done);
    *sweep = (struct gt_sweep){ .path = NULL };
}

static int begin(struct gt_sweep *sweep, struct gt_error *error)
{
    if (sweep->writing)
        return 0;
    if (gt_sweep_begin(sweep->store, error) != 0)
        return -1;
    sweep->writing = true;
    sweep->since_s = now_s();
    return 0;
}

int gt_sweep_keep_trace(struct gt_sweep *sweep, uint32_t number, const struct gt_sweep_trace *trace,
                        struct gt_error *error)
{
    return begin(sweep, error) == 0 ? gt_sweep_put_trace(sweep->store, number, trace, error) : -1;
}

int gt_sweep_keep(struct gt_sweep *sweep, const struct gt_sweep_row *row, struct gt_error *error)
{
    uint32_t trace = (uint32_t)(row->point / gt_sweep_grid_points(&sweep->plan));

    if (begin(sweep, error) != 0 || gt_sweep_put(sweep->store, trace, row, error) != 0)
        return -1;
    return note_done(sweep, row, error);
}

int gt_sweep_flush(struct gt_sweep *sweep, bool now, struct gt_error *error)
{
    if (!sweep->writing || (!now && now_s() - sweep->since_s < flush_s))
        return 0;
    sweep->writing = false;
    return gt_sweep_end(sweep->store, error);
}

uint64_t *gt_sweep_todo(const struct gt_sweep *sweep, uint64_t part, uint64_t parts, uint64_t *count)
{
    uint64_t from = sweep->left * part / parts, to = sweep->left * (part + 1) / parts, place = 0;
    uint64_t *todo = gt_calloc(to - from + 1, sizeof *todo);

    *count = 0;
    for (uint64_t i = 0; i < sweep->points; i++) {
        if (sweep->done[i])
            continue;
        if (place >= from && place < to)
            todo[(*count)++] = i;
        place++;
    }
    return todo;
}
