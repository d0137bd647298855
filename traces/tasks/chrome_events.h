/* chrome_events.h - the events of a Chrome trace (JSON), one at a time, as a profiler that records little of each writes it. */
#ifndef GRIDTIDE_TRACES_TASKS_CHROME_EVENTS_H
#define GRIDTIDE_TRACES_TASKS_CHROME_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "traces/io/input.h"

/* Of an event: texts, then numbers as they are written.  Numbers where a text should be, and the other way round, are not there. */
enum gt_chrome_field {
    GT_CHROME_PHASE,
    GT_CHROME_CATEGORY,
    GT_CHROME_NAME,
    GT_CHROME_PROCESS,
    GT_CHROME_THREAD,
    GT_CHROME_START,
    GT_CHROME_DURATION,
    GT_CHROME_FIELDS
};
extern const char *const gt_chrome_field_names[GT_CHROME_FIELDS]; /* in the file */
struct gt_chrome_text {
    char *bytes; /* ends in NUL */
    size_t length, room;
    bool present;
};

/* Takes one event, whose texts are good until it returns; -1 with the reason in the error that gt_chrome_events_read() has. */
typedef int gt_chrome_take(void *user, const struct gt_chrome_text *texts);

/* Give `take` each event of the list "traceEvents", or of a list that is the whole file; several JSON texts may follow each other, as
 * proton writes one a stream where it records kernels alone.  0; -1 with "PATH: ..." or "PATH: byte N: ..." in error. */
int gt_chrome_events_read(struct gt_input *input, const char *path, gt_chrome_take *take, void *user,
                          struct gt_error *error);

#endif
