#include "sim/cmd/input/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "sim/warp/kernel_model.h"
#include "traces/import/warnings.h"
#include "traces/names/clean_text.h"
#include "traces/sass/program_match.h"

enum { NAMES_TOLD = 10 };

void gt_profiles_add(struct gt_profiles *profiles, const char *path)
{
    profiles->paths = gt_realloc(profiles->paths, profiles->count + 1ull, sizeof *profiles->paths);
    profiles->paths[profiles->count++] = path;
}

int gt_profiles_read(struct gt_profiles *profiles, bool quiet, struct gt_error *error)
{
    profiles->workloads = gt_calloc(profiles->count + 1ull, sizeof *profiles->workloads);
    for (uint32_t i = 0; i < profiles->count; i++) {
        profiles->workloads[i] = gt_run_read(profiles->paths[i], quiet, error);
        if (profiles->workloads[i] == NULL)
            return -1;
        if (!gt_has_programs(profiles->workloads[i]))
            return gt_error_set(error,
                                "%.300s: no kernel has machine code; name a report of Nsight Compute or a trace "
                                "that 'gridtide import ncu' wrote",
                                profiles->paths[i]);
    }
    return 0;
}

static void tell_missing(const struct gt_workload *workload, const struct gt_program_matches *matches)
{
    uint64_t missing = matches->kernels[GT_MATCH_OTHER_BLOCK] + matches->kernels[GT_MATCH_UNKNOWN];
    uint32_t told = 0;

    for (uint32_t i = 0; i < matches->count && told < NAMES_TOLD; i++) {
        const struct gt_kernel *kernel = &workload->kernels[i];
        bool other_block = matches->how[i] == GT_MATCH_OTHER_BLOCK;
        char *name;

        if (!other_block && matches->how[i] != GT_MATCH_UNKNOWN)
            continue;
        told++;
        name = gt_clean_name(gt_name_text(workload, kernel->name));
        fprintf(stderr,
                "gridtide: warning: no machine code for kernel '%.100s' with blocks of "
                "%" PRIu32 "x%" PRIu32 "x%" PRIu32 ": %s\n",
                name, kernel->block[0], kernel->block[1], kernel->block[2],
                other_block ? "it was profiled with other block sizes" : "it was not profiled");
        free(name);
    }
    if (missing > told)
        fprintf(stderr, "gridtide: warning: no machine code for %" PRIu64 " more kernels\n", missing - told);
}

static void tell_differing(const struct gt_workload *workload, const struct gt_program_matches *matches)
{
    const struct gt_kernel *kernel;
    char *name;

    if (matches->differing == 0)
        return;
    kernel = &workload->kernels[matches->first_differing];
    name = gt_clean_name(gt_name_text(workload, kernel->name));
    fprintf(stderr,
            "gridtide: warning: registers or shared memory differ from the profile's in %" PRIu32
            " kernel(s), such as '%.100s': "
            "%" PRIu32 " registers and %" PRIu32 " bytes in the trace, %" PRIu32 " and %" PRIu32
            " in the profile; the trace's values are used\n",
            matches->differing, name, kernel->registers_per_thread,
            kernel->static_shared_bytes + kernel->dynamic_shared_bytes, matches->registers_per_thread,
            matches->shared_bytes);
    free(name);
}

void gt_profiles_attach(const struct gt_profiles *profiles, struct gt_workload *workload, const char *name,
                        bool quiet)
{
    struct gt_program_matches matches;
    uint64_t kernels = 0, launches = 0;

    if (profiles->count == 0)
        return;
    gt_match_programs(workload, profiles->workloads, profiles->count, &matches);
    gt_import_warn(workload, "no-program",
                   matches.launches[GT_MATCH_OTHER_BLOCK] + matches.launches[GT_MATCH_UNKNOWN]);
    for (int how = GT_MATCH_OWN; how < GT_MATCHES; how++) {
        kernels += matches.kernels[how];
        launches += matches.launches[how];
    }
    if (!quiet) {
        uint64_t missing = matches.kernels[GT_MATCH_OTHER_BLOCK] + matches.kernels[GT_MATCH_UNKNOWN];
        uint64_t unprofiled = matches.launches[GT_MATCH_OTHER_BLOCK] + matches.launches[GT_MATCH_UNKNOWN];

        char *shown = gt_clean_name(name);

        fprintf(stderr,
                "gridtide: %.200s: machine code for %" PRIu64 " of %" PRIu64 " kernels (%" PRIu64 " of %" PRIu64
                " launches), %" PRIu64 " of them profiled with another grid\n",
                shown, kernels - missing, kernels, launches - unprofiled, launches, matches.kernels[GT_MATCH_SCALED]);
        free(shown);
        tell_missing(workload, &matches);
        tell_differing(workload, &matches);
    }
    free(matches.how);
}

int gt_profiles_check_cost(const struct gt_workload *workload, struct gt_error *error)
{
    if (gt_has_programs(workload))
        return 0;
    return gt_error_set(error,
                        "%.300s: --cost program, but no kernel has machine code: profile the program with ncu "
                        "--set full and add --programs FILE, or remove --cost program",
                        workload->path != NULL ? workload->path : "standard input");
}

void gt_profiles_free(struct gt_profiles *profiles)
{
    for (uint32_t i = 0; i < profiles->count && profiles->workloads != NULL; i++)
        gt_workload_free(profiles->workloads[i]);
    free(profiles->workloads);
    free(profiles->paths);
    *profiles = (struct gt_profiles){ .count = 0 };
}
