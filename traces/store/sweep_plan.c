/* What a sweep was made for: its traces, parameters and values, kept with it and compared when it goes on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/store/internal.h"
#include "traces/store/query.h"
#include "traces/store/schema_sql.h"
#include "traces/store/sweep_rows.h"

/* Of a file that may be anybody's: more than `gridtide sweep` takes. */
enum { TRACES_MAX = 1 << 20, PARAMETERS_MAX = 64, VALUES_MAX = 1 << 16 };
static const uint64_t points_max = 1 << 24;

uint64_t gt_sweep_grid_points(const struct gt_sweep_plan *plan)
{
    uint64_t points = 1;

    for (uint32_t i = 0; i < plan->parameter_count; i++)
        points *= plan->parameters[i].count;
    return points;
}

uint64_t gt_sweep_points(const struct gt_sweep_plan *plan)
{
    return gt_sweep_grid_points(plan) * plan->trace_count;
}

uint32_t gt_sweep_value(const struct gt_sweep_plan *plan, uint64_t point, uint32_t parameter)
{
    for (uint32_t i = plan->parameter_count; i-- > parameter + 1;)
        point /= plan->parameters[i].count;
    return (uint32_t)(point % plan->parameters[parameter].count);
}

int gt_store_has_sweep(struct gt_store *store, struct gt_error *error)
{
    static const char sql[] = "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'sweep'";
    int64_t count = 0;

    return gt_query_one(gt_store_database(store), sql, 0, 0, &count, error) < 0 ? -1 : count > 0;
}

/* One row of texts, and of numbers where there are. */
static int put(struct gt_store *store, const char *sql, const int64_t *numbers, int number_count,
               const char *const *texts, int text_count, struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, sql, error);
    int result;

    if (insert == NULL)
        return -1;
    for (int i = 0; i < number_count; i++)
        sqlite3_bind_int64(insert, i + 1, numbers[i]);
    for (int i = 0; i < text_count; i++)
        sqlite3_bind_text(insert, number_count + i + 1, texts[i], -1, SQLITE_STATIC);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result;
}

static int put_parameter(struct gt_store *store, int64_t number, const struct gt_sweep_parameter *parameter,
                         struct gt_error *error)
{
    const char *const *values = (const char *const *)parameter->values;

    if (put(store, "INSERT INTO sweep_parameter VALUES (?, ?)", &number, 1, (const char *const *)&parameter->name, 1,
            error) != 0)
        return -1;
    for (uint32_t i = 0; i < parameter->count; i++)
        if (put(store, "INSERT INTO sweep_value VALUES (?, ?, ?)", (int64_t[]){ number, i }, 2, &values[i], 1,
                error) != 0)
            return -1;
    return 0;
}

/* A parameter's value follows from the point's number. */
char *gt_sweep_grid_view(const struct gt_sweep_plan *plan)
{
    uint64_t stride = gt_sweep_grid_points(plan);
    char *text;
    size_t bytes;
    FILE *sql = open_memstream(&text, &bytes);

    if (sql == NULL)
        gt_no_memory("a statement");
    fputs("VIEW sweep_grid AS SELECT point, coalesce(t.name, t.file) AS trace", sql);
    for (uint32_t i = 0; i < plan->parameter_count; i++) {
        char *name = sqlite3_mprintf("\"%w\"", plan->parameters[i].name);

        stride /= plan->parameters[i].count;
        fprintf(sql,
                ", (SELECT value FROM sweep_value WHERE parameter_no = %u AND value_no = point / %llu %% %u) AS %s",
                i, (unsigned long long)stride, plan->parameters[i].count, name);
        sqlite3_free(name);
    }
    fputs(", predicted_us, s.step_us, low_us, high_us, change_pct, trust, assumptions, bound_by, bound_pct, refusal"
          " FROM sweep s JOIN sweep_trace t USING (trace_no)",
          sql);
    fclose(sql);
    return text;
}

static int make_view(struct gt_store *store, const struct gt_sweep_plan *plan, struct gt_error *error)
{
    char *view = gt_sweep_grid_view(plan), *sql = gt_format("CREATE %s", view);
    int result = gt_store_run(store, sql, error);

    free(sql);
    free(view);
    return result;
}

static int put_plan(struct gt_store *store, const struct gt_sweep_plan *plan, struct gt_error *error)
{
    static const char option[] = "INSERT INTO sweep_option VALUES (?, ?)";
    int result = put(store, option, NULL, 0, (const char *[]){ "options", plan->options }, 2, error);

    if (result == 0)
        result = put(store, option, NULL, 0, (const char *[]){ "program", plan->program }, 2, error);
    for (uint32_t i = 0; i < plan->trace_count && result == 0; i++)
        result = put(store, "INSERT INTO sweep_trace (trace_no, file, digest) VALUES (?, ?, ?)", (int64_t[]){ i }, 1,
                     (const char *[]){ plan->traces[i].file, plan->traces[i].digest }, 2, error);
    for (uint32_t i = 0; i < plan->parameter_count && result == 0; i++)
        result = put_parameter(store, i, &plan->parameters[i], error);
    return result == 0 ? make_view(store, plan, error) : -1;
}

int gt_sweep_create(const char *path, const struct gt_sweep_plan *plan, struct gt_error *error)
{
    struct gt_store *store = gt_store_create(path, error);

    if (store == NULL)
        return -1;
    if (gt_store_run(store, gt_schema_sweep_sql, error) == 0 && gt_store_begin(store, error) == 0 &&
        gt_store_finish(store, put_plan(store, plan, error), error) == 0)
        return gt_store_commit(store, error);
    gt_store_abandon(store);
    return -1;
}

/* Rows of a table, in order; each fills what the row is about.  Returns 0 or -1. */
typedef int row_fn(struct gt_query *query, struct gt_sweep_plan *plan, struct gt_error *error);
static int read_rows(struct gt_store *store, const char *sql, const char *table, row_fn *each,
                     struct gt_sweep_plan *plan, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int more;

    if (query == NULL)
        return -1;
    gt_query_about(query, table);
    while ((more = gt_query_next(query, error)) == 1)
        if (each(query, plan, error) != 0) {
            more = gt_database_name_error(gt_store_database(store), error);
            break;
        }
    gt_query_end(query);
    return more;
}

/* Numbers of rows count from 0, without a gap. */
static int check_number(struct gt_query *query, uint64_t expected, uint64_t most, const char *what,
                        struct gt_error *error)
{
    uint64_t number;

    if (gt_query_number(query, 0, most, what, &number, error) != 0)
        return -1;
    return number == expected
               ? 0
               : gt_error_set(error, "damaged: the sweep has no %s %llu", what, (unsigned long long)expected);
}

static int read_option(struct gt_query *query, struct gt_sweep_plan *plan, struct gt_error *error)
{
    const char *name = gt_query_string(query, 0);
    char **place = name == NULL                   ? NULL
                   : strcmp(name, "options") == 0 ? &plan->options
                   : strcmp(name, "program") == 0 ? &plan->program
                                                  : NULL;

    (void)error;
    if (place == NULL)
        return 0;
    free(*place);
    *place = gt_query_text(query, 1);
    return 0;
}

static int read_trace(struct gt_query *query, struct gt_sweep_plan *plan, struct gt_error *error)
{
    struct gt_sweep_trace *trace;

    if (check_number(query, plan->trace_count, TRACES_MAX, "trace", error) != 0)
        return -1;
    plan->traces = gt_realloc(plan->traces, plan->trace_count + 1, sizeof *plan->traces);
    trace = &plan->traces[plan->trace_count++];
    *trace = (struct gt_sweep_trace){
        .file = gt_query_text(query, 1),
        .digest = gt_query_text(query, 2),
        .name = gt_query_absent(query, 3) ? NULL : gt_query_text(query, 3),
        .device = gt_query_absent(query, 4) ? NULL : gt_query_text(query, 4),
        .measured_us = gt_query_real(query, 5),
        .replay_us = gt_query_real(query, 6),
        .baseline_us = gt_query_real(query, 7),
        .step_us = gt_query_real(query, 8),
        .steps = gt_query_integer(query, 9),
    };
    return 0;
}

static int read_parameter(struct gt_query *query, struct gt_sweep_plan *plan, struct gt_error *error)
{
    if (check_number(query, plan->parameter_count, PARAMETERS_MAX, "parameter", error) != 0)
        return -1;
    plan->parameters = gt_realloc(plan->parameters, plan->parameter_count + 1, sizeof *plan->parameters);
    plan->parameters[plan->parameter_count++] = (struct gt_sweep_parameter){ .name = gt_query_text(query, 1) };
    return 0;
}

static int read_value(struct gt_query *query, struct gt_sweep_plan *plan, struct gt_error *error)
{
    struct gt_sweep_parameter *parameter;
    uint64_t number;

    if (plan->parameter_count == 0 ||
        gt_query_number(query, 2, plan->parameter_count - 1, "parameter", &number, error) != 0)
        return gt_error_set(error, "damaged: the sweep has values without a parameter");
    parameter = &plan->parameters[number];
    if (check_number(query, parameter->count, VALUES_MAX, "value", error) != 0)
        return -1;
    parameter->values = gt_realloc(parameter->values, parameter->count + 1, sizeof *parameter->values);
    parameter->values[parameter->count++] = gt_query_text(query, 1);
    return 0;
}

static int check_size(struct gt_store *store, const struct gt_sweep_plan *plan, struct gt_error *error)
{
    uint64_t points = plan->trace_count;

    for (uint32_t i = 0; i < plan->parameter_count && points <= points_max; i++)
        points *= plan->parameters[i].count;
    if (points == 0 || points > points_max || plan->options == NULL || plan->program == NULL) {
        gt_error_set(error, "damaged: the plan of the sweep is missing; make it again with 'gridtide sweep'");
        return gt_database_name_error(gt_store_database(store), error);
    }
    return 0;
}

int gt_sweep_plan_read(struct gt_store *store, struct gt_sweep_plan *plan, struct gt_error *error)
{
    /* clang-format off */
    static const struct { const char *table, *sql; row_fn *each; } tables[] = {
        { "sweep_option", "SELECT name, value FROM main.sweep_option", read_option },
        { "sweep_trace", "SELECT trace_no, file, digest, name, device, measured_us, replay_us, baseline_us, step_us, steps"
                         " FROM main.sweep_trace ORDER BY trace_no", read_trace },
        { "sweep_parameter", "SELECT parameter_no, name FROM main.sweep_parameter ORDER BY parameter_no", read_parameter },
        { "sweep_value", "SELECT value_no, value, parameter_no FROM main.sweep_value ORDER BY parameter_no, value_no", read_value },
    };
    /* clang-format on */
    int result = 0;

    *plan = (struct gt_sweep_plan){ .options = NULL };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && result == 0; i++)
        result = read_rows(store, tables[i].sql, tables[i].table, tables[i].each, plan, error);
    return result == 0 ? check_size(store, plan, error) : -1;
}

void gt_sweep_plan_free(struct gt_sweep_plan *plan)
{
    for (uint32_t i = 0; i < plan->trace_count; i++) {
        free(plan->traces[i].file);
        free(plan->traces[i].digest);
        free(plan->traces[i].name);
        free(plan->traces[i].device);
    }
    for (uint32_t i = 0; i < plan->parameter_count; i++) {
        for (uint32_t j = 0; j < plan->parameters[i].count; j++)
            free(plan->parameters[i].values[j]);
        free(plan->parameters[i].values);
        free(plan->parameters[i].name);
    }
    free(plan->traces);
    free(plan->parameters);
    free(plan->options);
    free(plan->program);
    *plan = (struct gt_sweep_plan){ .options = NULL };
}

static bool same_parameter(const struct gt_sweep_parameter *left, const struct gt_sweep_parameter *right)
{
    if (left->count != right->count || strcmp(left->name, right->name) != 0)
        return false;
    for (uint32_t i = 0; i < left->count; i++)
        if (strcmp(left->values[i], right->values[i]) != 0)
            return false;
    return true;
}

/* What differs first, in words; NULL: nothing does. */
static const char *difference(const struct gt_sweep_plan *stored, const struct gt_sweep_plan *asked)
{
    if (strcmp(stored->program, asked->program) != 0)
        return "made by another version of Gridtide";
    if (strcmp(stored->options, asked->options) != 0)
        return "made with other options";
    if (stored->trace_count != asked->trace_count)
        return "with other traces";
    for (uint32_t i = 0; i < asked->trace_count; i++) {
        if (strcmp(stored->traces[i].file, asked->traces[i].file) != 0)
            return "with other traces, or in another order";
        if (strcmp(stored->traces[i].digest, asked->traces[i].digest) != 0)
            return "with a trace whose file has changed since";
    }
    if (stored->parameter_count != asked->parameter_count)
        return "with other parameters";
    for (uint32_t i = 0; i < asked->parameter_count; i++)
        if (!same_parameter(&stored->parameters[i], &asked->parameters[i]))
            return "with other parameters or values, or in another order";
    return NULL;
}

int gt_sweep_plan_check(const struct gt_sweep_plan *stored, const struct gt_sweep_plan *asked, const char *path,
                        struct gt_error *error)
{
    const char *why = difference(stored, asked);

    if (why == NULL)
        return 0;
    return gt_error_set(
        error,
        "%.500s: contains a sweep %s; this command cannot resume it; give another name with -o, or remove the file",
        path, why);
}
