/* write.c - a trace's kernels with programs as a folder that Accel-Sim runs: kernelslist.g, and a file a kernel.
 *
 * Equal launches of a stream share a file.  The list gets its name last: a folder without one is not whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/accelsim/accelsim.h"
#include "traces/accelsim/internal.h"
#include "traces/io/device_file.h"

/* Text of more instructions is some 100 GB. */
#define MOST_INSTRUCTIONS 2e9

struct folder {
    const struct gt_workload *workload;
    const char *path;
    struct gt_device device;
    uint32_t *file; /* [op]: number of its kernel's file, from 1; 0 none */
    bool *owns;     /* [op]: the first of that file */
    uint32_t written;
};

static bool has_program(const struct gt_workload *workload, gt_op_index op)
{
    return workload->ops[op].kind == GT_OP_KERNEL && workload->kernels[workload->ops[op].kernel].program != NULL;
}

/* Number the files: one for equal launches of a stream of which no profile says more. */
static void number_files(struct folder *folder)
{
    const struct gt_workload *workload = folder->workload;
    gt_op_index *last = gt_calloc(workload->kernel_count + 1ull, sizeof *last); /* [kernel]: that owns a file, + 1 */
    gt_op_index *before = gt_calloc(workload->op_count + 1ull, sizeof *before); /* [op]: likewise, of its kernel */
    uint32_t files = 0;

    for (gt_op_index op = 0; op < workload->op_count; op++) {
        gt_kernel_index kernel = workload->ops[op].kernel;
        gt_op_index equal = 0;

        if (!has_program(workload, op))
            continue;
        if (gt_workload_profile(workload, op) == NULL)
            for (equal = last[kernel]; equal != 0; equal = before[equal - 1])
                if (workload->ops[equal - 1].stream == workload->ops[op].stream)
                    break;
        folder->owns[op] = equal == 0;
        folder->file[op] = equal == 0 ? ++files : folder->file[equal - 1];
        if (equal == 0 && gt_workload_profile(workload, op) == NULL) {
            before[op] = last[kernel];
            last[kernel] = op + 1;
        }
    }
    free(last);
    free(before);
}

static char *file_name(const struct folder *folder, uint32_t file)
{
    return gt_format("%s/kernel-%" PRIu32 ".traceg", folder->path, file);
}

static int write_file(struct folder *folder, gt_op_index op, struct gt_error *error)
{
    char *name = file_name(folder, folder->file[op]);
    struct gt_output *output = gt_output_open(name, error);
    int status = -1;

    if (output != NULL) {
        status = gt_accelsim_write_kernel(folder->workload, op, folder->file[op], &folder->device, output, error);
        if (status == 0)
            status = gt_output_commit(output, error);
        else
            gt_output_abandon(output);
    }
    folder->written += status == 0;
    free(name);
    return status;
}

static int write_kernels(struct folder *folder, struct gt_error *error)
{
    const struct gt_workload *workload = folder->workload;

    for (gt_op_index op = 0; op < workload->op_count; op++)
        if (folder->owns[op] && write_file(folder, op, error) != 0)
            return gt_error_prefix(
                error, "kernel %.200s: ", gt_name_text(workload, workload->kernels[workload->ops[op].kernel].name));
    return 0;
}

static int write_list(const struct folder *folder, struct gt_error *error)
{
    const struct gt_workload *workload = folder->workload;
    char *name = gt_format("%s/kernelslist.g", folder->path);
    struct gt_output *output = gt_output_open(name, error);
    int status = output == NULL ? -1 : 0;

    free(name);
    for (gt_op_index op = 0; op < workload->op_count && status == 0; op++)
        if (folder->file[op] != 0)
            status = gt_output_printf(output, error, "kernel-%" PRIu32 ".traceg\n", folder->file[op]);
        else if (workload->ops[op].kind == GT_OP_COPY && workload->ops[op].direction == GT_H2D)
            status = gt_output_printf(output, error, "MemcpyHtoD,0x0000700000000000,%" PRIu64 "\n",
                                      workload->ops[op].bytes);
    if (status == 0)
        return gt_output_commit(output, error);
    gt_output_abandon(output);
    return -1;
}

/* Can all of it be written? */
static int check(const struct folder *folder, struct gt_error *error)
{
    const struct gt_workload *workload = folder->workload;
    double instructions = 0;

    for (gt_op_index op = 0; op < workload->op_count; op++) {
        if (!folder->owns[op])
            continue;
        if (workload->kernels[workload->ops[op].kernel].program->text == NULL)
            return gt_error_set(error, "program '%s' has no texts of instructions",
                                workload->kernels[workload->ops[op].kernel].program->key);
        instructions += gt_accelsim_kernel_instructions(workload, op);
    }
    if (instructions == 0)
        return gt_error_set(error, "no kernel has a program: import a profile of Nsight Compute that has source "
                                   "counters (gridtide-import(1), ncu)");
    if (instructions > MOST_INSTRUCTIONS)
        return gt_error_set(error,
                            "%.3g warp instructions, of which %.0g are written at most: export a trace of fewer or "
                            "smaller launches",
                            instructions, MOST_INSTRUCTIONS);
    return 0;
}

static void remove_files(const struct folder *folder)
{
    for (uint32_t file = 1; file <= folder->written; file++) {
        char *name = file_name(folder, file);

        unlink(name);
        free(name);
    }
    rmdir(folder->path);
}

static int write_folder(struct folder *folder, struct gt_error *error)
{
    int status;

    if (mkdir(folder->path, 0777) != 0)
        return gt_error_set(error, "%s: cannot create this folder: %s", folder->path, strerror(errno));
    status = write_kernels(folder, error);
    if (status == 0)
        status = write_list(folder, error);
    if (status != 0)
        remove_files(folder);
    return status;
}

int gt_accelsim_write(const struct gt_workload *workload, const char *path, struct gt_error *error)
{
    struct folder folder = { .workload = workload, .path = path };
    int status;

    if (strcmp(path, "-") == 0)
        return gt_error_set(error, "a trace for Accel-Sim is a folder, not standard output: name one with -o");
    folder.file = gt_calloc(workload->op_count + 1ull, sizeof *folder.file);
    folder.owns = gt_calloc(workload->op_count + 1ull, sizeof *folder.owns);
    number_files(&folder);
    status = check(&folder, error);
    if (status == 0)
        status =
            gt_device_load(workload->device != NULL ? workload->device : GT_DEVICE_FALLBACK, &folder.device, error);
    if (status == 0)
        status = write_folder(&folder, error);
    free(folder.file);
    free(folder.owns);
    return status;
}
