/* tables.h - the tables and views of a store by name, all rows of one (gridtide-store(5) says what they are). */
#ifndef GRIDTIDE_TRACES_STORE_TABLES_H
#define GRIDTIDE_TRACES_STORE_TABLES_H

#include "traces/store/query.h"
#include "traces/store/store.h"

/* Is `name` a table or view that stores of this program have?  1; 0 with the names of all views in *views, malloced; -1. */
int gt_store_knows_table(const char *name, char **views, struct gt_error *error);

/* All rows and columns of the table or view `name`, which must be known, of a store that is open for reading.  Views are as this
 * program defines them: those in the file, which anybody may have written, never run (database.h).  NULL with the reason: the
 * store has no such table, as one of an older version or of another command. */
struct gt_query *gt_store_table(struct gt_store *store, const char *name, struct gt_error *error);

#endif
