/* csv_file.h - rows of a store's runs as a CSV file (RFC 4180). */
#ifndef GRIDTIDE_TRACES_EXPORT_CSV_FILE_H
#define GRIDTIDE_TRACES_EXPORT_CSV_FILE_H

#include "traces/export/internal.h"

enum gt_csv_type { GT_CSV_TEXT, GT_CSV_NUMBER, GT_CSV_TIME };

struct gt_csv_column {
    const char *name;
    enum gt_csv_type type; /* times are picoseconds in the store, microseconds in the file */
};

struct gt_csv_file {
    const struct gt_csv_column *columns; /* as the query gives them; the first is the run's number */
    size_t count;
    const char *sql; /* run by run; ?1 and ?2 are bound to 0 */
    /* Is the row in the part of its run that is asked for? */
    bool (*is_wanted)(const struct gt_selection *selection, struct gt_query *query);
};

/* The rows of the store in that part of each run (NULL: all) to `path`, whole or not at all.  Returns 0 or -1. */
int gt_csv_file_write(const struct gt_csv_file *file, struct gt_store *store, const char *path,
                      const struct gt_filter *filter, struct gt_error *error);

#endif
