/* arrival_file.h - times of arrivals from a file. */
#ifndef GRIDTIDE_TRACES_LOADS_ARRIVAL_FILE_H
#define GRIDTIDE_TRACES_LOADS_ARRIVAL_FILE_H

#include "sim/workload/workload.h"

/* Read times from `path`: JSON lines (a name that ends in .jsonl), of each its field, or CSV with a heading line, of each record
 * its column.  `column` NULL: the first of seconds, Timestamp, TIMESTAMP, timestamp, time and arrival that is there.  Times are
 * seconds; in JSON lines, where none is called seconds, milliseconds (Mooncake); "2023-11-16 18:15:46.6805900" is a
 * time of day (Azure).  They count from the first, but those called seconds, which count from the load's start; all are divided by `speed`.
 * Returns 0 with the malloced times and their number; -1 with FILE:LINE and what is wrong. */
int gt_arrival_file_read(const char *path, const char *column, double speed, gt_time_ps **times_ps, uint64_t *count,
                         struct gt_error *error);

#endif
