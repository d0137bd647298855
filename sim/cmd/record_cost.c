/* record_cost.c - what recording costs on this machine: a small program of its own, recorded like any other. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/record_parts.h"
#include "traces/io/temporary.h"
#include "traces/recorded/records.h"

#define PROGRAM "gridtide-record-cost"

/* Beside the library: there `make` and its installation put it. */
static char *find_program(const char *library)
{
    const char *slash = strrchr(library, '/');

    return gt_format("%.*s/" PROGRAM, slash == NULL ? 0 : (int)(slash - library), library);
}

void gt_record_measure_cost(const char *library, const char *folder)
{
    char *program = find_program(library), *output = gt_format("%s/" GT_RECORDED_COSTS, folder);
    const struct gt_recording recording = { .program = (char *const[]){ program, NULL },
                                            .from = "profiler",
                                            .output = output };
    struct gt_error error;
    int status = -1;
    char *records = access(program, X_OK) != 0 ? NULL : gt_temporary_folder("record-cost", &error);

    if (records != NULL && (gt_record_run(&recording, library, records, &status, &error) != 0 || status != 0))
        unlink(output);
    if (records != NULL)
        gt_temporary_remove(records);
    free(records);
    free(output);
    free(program);
}
