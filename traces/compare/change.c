#include "traces/compare/change.h"

#include "traces/store/internal.h"

int gt_change_without(struct gt_store *store, int64_t run, int64_t *without, struct gt_error *error)
{
    static const char sql[] =
        "SELECT c.value FROM counter c JOIN run r ON r.run_id = c.value"
        " WHERE c.run_id = ? AND c.name = '" GT_CHANGE_COUNTER "' AND r.kind = 'simulated' AND r.whole = 1";
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    int code;

    *without = 0;
    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, run);
    code = sqlite3_step(query);
    if (code == SQLITE_ROW)
        *without = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : gt_store_fail(store, error);
}
