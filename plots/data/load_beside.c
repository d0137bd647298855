#include "plots/data/load_beside.h"

#include <string.h>

#include "traces/explain/part.h"
#include "traces/store/store.h"

static void *load(void *user)
{
    struct gt_loading *loading = user;
    struct gt_store *store = gt_store_open(loading->path, false, &loading->error);
    struct gt_database *database = store != NULL ? gt_store_database(store) : NULL;

    if (store == NULL)
        return NULL;
    loading->run = gt_loaded_run_load(database, loading->run_id, &loading->error);
    if (loading->run != NULL && gt_part_take(loading->run, database, loading->filter, &loading->error) != 0) {
        gt_loaded_run_free(loading->run);
        loading->run = NULL;
    }
    gt_store_close(store);
    return NULL;
}

void gt_loading_begin(struct gt_loading *loading, const char *path, int64_t run_id, const struct gt_filter *filter)
{
    *loading = (struct gt_loading){ .path = path, .filter = filter, .run_id = run_id };
    if (run_id == 0)
        return;
    loading->started = pthread_create(&loading->thread, NULL, load, loading) == 0;
    if (!loading->started)
        load(loading);
}

struct gt_loaded_run *gt_loading_end(struct gt_loading *loading, struct gt_error *error)
{
    struct gt_loaded_run *run;

    if (loading->started && pthread_join(loading->thread, NULL) != 0)
        gt_bug("a thread that was started cannot be waited for");
    run = loading->run;
    if (run == NULL && loading->run_id != 0 && error != NULL)
        *error = loading->error;
    memset(loading, 0, sizeof *loading);
    return run;
}
