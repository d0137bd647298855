/* record_cost.c - what recording costs on this machine: a small program of its own, recorded like any other. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/trace/record_parts.h"
#include "traces/io/temporary.h"
#include "traces/recorded/records.h"

#define PROGRAM "gridtide-record-cost"

/* Beside the library: there `make` and its installation put it. */
static char *find_program(const char *library)
{
    const char *slash = strrchr(library, '/');

    return gt_format("%.*s/" PROGRAM, slash == NULL ? 0 : (int)(slash - library), library);
}

enum { TIMES = 2 }; /* each way: some processes are put where they are slow */

/* What it measured is added to the file `output`; with a library, what that costs is in it. */
static void measure(const char *program, const char *library, const char *how, const char *output)
{
    struct gt_error error;
    char *records = gt_temporary_folder("record-cost", &error);
    const struct gt_recording recording = { .program = (char *const[]){ (char *)program, (char *)how, NULL },
                                            .from = "start",
                                            .output = output };
    int status;

    if (records == NULL)
        return;
    gt_record_run(&recording, library, records, &status, &error);
    gt_temporary_remove(records);
    free(records);
}

void gt_record_measure_cost(const char *library, const char *folder)
{
    char *program = find_program(library), *output = gt_format("%s/" GT_RECORDED_COSTS, folder);

    for (int i = 0; i < TIMES && access(program, X_OK) == 0; i++) {
        measure(program, NULL, "plain", output);
        measure(program, library, "recorded", output);
    }
    free(output);
    free(program);
}
