#include "sim/cmd/gpu/validate_input.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "traces/io/path_stem.h"

void gt_validate_place(const struct gt_validate_arguments *arguments, size_t number, char *place, size_t bytes)
{
    if (arguments->random > 0)
        gt_draw_name(&arguments->draws, (uint32_t)number, place, bytes);
    else
        snprintf(place, bytes, "%s", arguments->traces[number]);
}

struct gt_workload *gt_validate_read(const struct gt_validate_arguments *arguments, size_t number,
                                     struct gt_error *error)
{
    struct gt_workload *workload;
    char *text;

    if (arguments->random == 0)
        return gt_run_read(arguments->traces[number], arguments->model.quiet, error);
    text = gt_draw_text(&arguments->draws, (uint32_t)number);
    workload = gt_draw_read(text, error);
    free(text);
    return workload;
}

void gt_validate_name(const struct gt_workload *workload, const char *path, char *name, size_t bytes)
{
    char *stem = gt_path_stem(path);
    bool named = workload != NULL && workload->name != NULL && workload->name[0] != '\0';

    snprintf(name, bytes, "%s", named ? workload->name : stem);
    free(stem);
}
