#include "traces/store/tables.h"

#include <stdlib.h>
#include <string.h>

#include "traces/store/internal.h"
#include "traces/store/sweep_rows.h"

static const char create_view[] = "CREATE VIEW ", grid[] = "sweep_grid";

static struct gt_query *known_query(struct gt_store *model, const char *name, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        &model->base, "SELECT type FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1", error);

    if (query != NULL)
        gt_query_bind_text(query, 1, name);
    return query;
}

static char *view_names(struct gt_store *model, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        &model->base,
        "SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid)",
        error);
    char *names = query != NULL && gt_query_next(query, error) == 1 ? gt_query_text(query, 0) : NULL;

    gt_query_end(query);
    return names;
}

int gt_store_knows_table(const char *name, char **views, struct gt_error *error)
{
    struct gt_store *model = gt_store_model(error);
    struct gt_query *query = model == NULL ? NULL : known_query(model, name, error);
    int known = query == NULL ? -1 : gt_query_next(query, error);

    gt_query_end(query);
    if (known == 0) {
        *views = view_names(model, error);
        known = *views != NULL ? 0 : -1;
    }
    gt_store_close(model);
    return known;
}

/* The views of `model`, for this connection alone: those that views stand on are found there before those in the file. */
static int define_views(struct gt_store *store, struct gt_store *model, struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(&model->base, "SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid", error);
    int row = query == NULL ? -1 : 1;

    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        char *sql = gt_format("CREATE TEMP VIEW %s", gt_query_string(query, 0) + strlen(create_view));

        row = gt_store_run(store, sql, error) == 0 ? 1 : -1;
        free(sql);
    }
    gt_query_end(query);
    return row;
}

/* The view that depends on what its sweep was made for. */
static int define_grid(struct gt_store *store, struct gt_error *error)
{
    struct gt_sweep_plan plan;
    int result = gt_sweep_plan_read(store, &plan, error);

    if (result == 0) {
        char *view = gt_sweep_grid_view(&plan), *sql = gt_format("CREATE TEMP %s", view);

        result = gt_store_run(store, sql, error);
        free(sql);
        free(view);
    }
    gt_sweep_plan_free(&plan);
    return result;
}

static int define(struct gt_store *store, const char *name, struct gt_error *error)
{
    struct gt_store *model = gt_store_model(error);
    int result =
        model == NULL ? -1 : gt_store_run(store, "PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF", error);

    if (result == 0)
        result = strcmp(name, grid) == 0 ? define_grid(store, error) : define_views(store, model, error);
    gt_store_close(model);
    return gt_store_run(store, "PRAGMA query_only = ON", error) == 0 ? result : -1;
}

/* Is it in the file?  1, 0, -1. */
static int is_there(struct gt_store *store, const char *name, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(&store->base, "SELECT 1 FROM main.sqlite_schema WHERE name = ?1", error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind_text(query, 1, name);
    row = gt_query_next(query, error);
    gt_query_end(query);
    return row;
}

struct gt_query *gt_store_table(struct gt_store *store, const char *name, struct gt_error *error)
{
    int there = is_there(store, name, error);
    struct gt_query *query = NULL;
    char *sql;

    if (there == 0)
        gt_error_set(error, "%s: has no %s: a newer version or another command of Gridtide writes that",
                     store->base.path, name);
    if (there <= 0 || define(store, name, error) != 0)
        return NULL;
    sql = gt_format("SELECT * FROM \"%s\"", name);
    query = gt_query_new(&store->base, sql, error);
    free(sql);
    if (query != NULL)
        gt_query_about(query, name);
    return query;
}
