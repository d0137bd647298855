/* profiles.h - option --programs: profiled launches whose programs the kernels of a trace take. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_PROFILES_H
#define GRIDTIDE_SIM_CMD_INPUT_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"

/* All zero: none. */
struct gt_profiles {
    const char **paths;             /* as given */
    struct gt_workload **workloads; /* read; NULL before */
    uint32_t count;
};

/* One more file or folder. `path` must last. */
void gt_profiles_add(struct gt_profiles *profiles, const char *path);

/* Read them all. Returns 0; -1 with the reason: one cannot be read or has no programs. */
int gt_profiles_read(struct gt_profiles *profiles, bool quiet, struct gt_error *error);

/* Let the kernels of `workload`, called `name` in messages, have their programs (traces/sass/program_match.h), and say
 * unless `quiet` how many did and which did not. */
void gt_profiles_attach(const struct gt_profiles *profiles, struct gt_workload *workload, const char *name,
                        bool quiet);

/* --cost program means nothing where no kernel of `workload` has a program: -1, with what to do. */
int gt_profiles_check_cost(const struct gt_workload *workload, struct gt_error *error);

void gt_profiles_free(struct gt_profiles *profiles);

#endif
