/* ncu.c - the importer of Nsight Compute: a folder of exported pages and cubins, or a report.
 *
 * Each profiled launch becomes a launch of one stream, one after the other, as the profiler ran them, with
 * the time and cycles measured.  Launches of the same code, shape and counts share one kernel and program.
 * What is wrong with one launch's source page or code is a warning and makes it a bar without a program; what
 * is wrong with raw.csv, which holds all of them, is an error.
 */
#include "traces/ncu/ncu.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>

#include "traces/import/builder.h"
#include "traces/import/device.h"
#include "traces/io/data_path.h"
#include "traces/io/temporary.h"
#include "traces/names/demangle.h"
#include "traces/names/gpu_names.h"
#include "traces/ncu/internal.h"

enum { WARP_THREADS = 32, COUNTS_PERMILLE = 5, MOST_SHARED_BYTES = 256 << 10 };

/* Programs found so far, by their content. */
struct known_program {
    UT_hash_handle hh;
    struct gt_program *program;
    char *content;
};

struct ncu {
    struct gt_workload *workload;
    struct gt_ncu_raw raw;
    struct gt_ncu_code *code;
    struct known_program *programs;
    const char *folder;
    uint32_t thread, stream;
    uint32_t launch;  /* the one at hand */
    bool warm_caches; /* see gt_import_options */
};

/* Count a warning about the launch at hand; the text of a kind's first one is kept. */
static void warn(struct ncu *ncu, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void warn(struct ncu *ncu, const char *kind, const char *format, ...)
{
    char what[GT_ERROR_TEXT_BYTES], text[GT_ERROR_TEXT_BYTES + 200];
    char *name = gt_function_name(ncu->raw.launches[ncu->launch].name);
    va_list values;

    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    snprintf(text, sizeof text, "launch %" PRIu32 " (%.120s): %s", ncu->launch, name, what);
    free(name);
    gt_import_warn_text(ncu->workload, kind, 1, text);
}

static uint32_t warps_per_block(const struct gt_ncu_launch *launch)
{
    return (launch->block[0] * launch->block[1] * launch->block[2] + WARP_THREADS - 1) / WARP_THREADS;
}

/* What the profiler moved by bulk copies, shared out to the instructions that ask for them: those with a
 * thread that is on, each the same. */
static void share_bulk_bytes(const struct gt_ncu_launch *launch, struct gt_program *program)
{
    double asked[GT_ACTIONS] = { 0 }, bytes[GT_ACTIONS] = { 0 };

    bytes[GT_ACTION_BULK_LOAD] = launch->bulk_load_bytes;
    bytes[GT_ACTION_BULK_STORE] = launch->bulk_store_bytes;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < program->instruction_count; i++) {
            const struct gt_instruction *in = &program->instructions[i];
            double on = fmin(in->threads_on, 1);

            if ((in->action != GT_ACTION_BULK_LOAD && in->action != GT_ACTION_BULK_STORE) || in->memory == GT_NONE)
                continue;
            if (pass == 0)
                asked[in->action] += (double)in->executions * on;
            else if (asked[in->action] > 0 && bytes[in->action] > 0)
                program->memory[in->memory].bulk_bytes = gt_program_mean(bytes[in->action] / asked[in->action] * on);
        }
}

/* All that makes a program what it is, as bytes. */
static char *content_of(const struct gt_ncu_launch *launch, const struct gt_ncu_source *source, size_t *length)
{
    char *content = NULL;
    FILE *stream = open_memstream(&content, length);

    if (stream == NULL)
        gt_bug("no memory for a program");
    fprintf(stream, "%s %u %u %u %u %u %u %u ", launch->name, launch->grid[0], launch->grid[1], launch->grid[2],
            launch->block[0], launch->block[1], launch->block[2], launch->compute_capability);
    fwrite(&launch->dynamic_shared_bytes, sizeof launch->dynamic_shared_bytes, 1, stream);
    for (uint32_t i = 0; i < source->count; i++)
        fprintf(stream, "%s %" PRIx32 " %" PRIx64 ";", source->rows[i].text, source->rows[i].control,
                source->rows[i].executions);
    fclose(stream);
    return content;
}

static void say_what_is_odd(struct ncu *ncu, const struct gt_program *program, const struct gt_flow_report *report,
                            uint32_t unknown, uint32_t first_unknown)
{
    const struct gt_ncu_launch *launch = &ncu->raw.launches[ncu->launch];
    double counted = (double)program->warp_instructions, all = launch->warp_instructions;

    if (unknown > 0)
        warn(ncu, "opcodes-unknown",
             "%" PRIu32 " unknown instructions, the first at 0x%x: %s; they are treated as simple ones", unknown,
             first_unknown * GT_SASS_BYTES, program->text + program->instructions[first_unknown].text);
    if (all > 0 && fabs(counted - all) * 1000 > all * COUNTS_PERMILLE)
        warn(ncu, "counts-differ",
             "the source page has %.0f warp instructions, the whole launch %.0f (%+.1f%%): the profiler's passes "
             "differ, for example because warps poll or wait for others; iterations of polling loops (loads that "
             "bypass L1) are limited to the count of the whole launch",
             counted, all, (counted - all) / all * 100);
    if (program->block_count == 0)
        warn(ncu, "flow-too-large",
             "kernels with too much control flow to reconstruct: the limits are %d basic blocks and %d nested loops",
             GT_FLOW_MOST_BLOCKS, GT_FLOW_MOST_DEPTH);
    else if (program->flow_broken)
        warn(ncu, "flow-broken",
             "instruction counts contradict the control flow for %.1f%% of the warp instructions; most at 0x%x: "
             "%" PRIu64 " executions, but control flow reaches it %" PRIu64 " times",
             report->imbalance * 100, report->worst * GT_SASS_BYTES, report->counted, report->arrive);
}

/* Of an SM's shared memory, or blocks of an SM; 0: not known, or more than any GPU has. */
static uint32_t of_an_sm(double value)
{
    return value > 0 && value <= MOST_SHARED_BYTES ? (uint32_t)lround(value) : 0;
}

static struct gt_program *make_program(struct ncu *ncu, struct gt_ncu_source *source)
{
    const struct gt_ncu_launch *launch = &ncu->raw.launches[ncu->launch];
    struct gt_program head = {
        .registers_per_thread = launch->registers_allocated,
        .shared_bytes = of_an_sm(launch->allocated_shared_bytes),
        .compute_capability = launch->compute_capability,
        .warps_per_block = warps_per_block(launch),
        .warm_caches = ncu->warm_caches,
    };
    uint32_t unknown, first_unknown;
    struct gt_flow_report report;
    struct gt_program *program;
    char key[24];

    snprintf(key, sizeof key, "p%" PRIu32, ncu->workload->program_count);
    head.key = key;
    head.warps = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] * head.warps_per_block;
    gt_ncu_memory_use(launch, &head.use);
    program = gt_program_make(&head, source->rows, source->count, &report, &unknown, &first_unknown);
    share_bulk_bytes(launch, program);
    if (source->sampled > 0) {
        program->samples = source->samples;
        source->samples = NULL;
    }
    say_what_is_odd(ncu, program, &report, unknown, first_unknown);
    return program;
}

/* Are the counts of the source page and of the whole launch ones that a launch can have? */
static bool is_countable(const struct gt_ncu_launch *launch, const struct gt_ncu_source *source)
{
    uint64_t executed = 0;

    for (uint32_t i = 0; i < source->count; i++)
        executed += source->rows[i].executions;
    return executed <= GT_PROGRAM_MOST_EXECUTIONS && launch->warp_instructions <= (double)GT_PROGRAM_MOST_EXECUTIONS;
}

/* Is it the page of another kernel?  Of names that do not tell, the code decides. */
static bool is_of_another(const struct gt_ncu_source *source, const struct gt_ncu_launch *launch)
{
    bool mangled = source->kernel != NULL && strncmp(source->kernel, "_Z", 2) == 0;

    return source->kernel != NULL && mangled == (strncmp(launch->name, "_Z", 2) == 0) &&
           !gt_ncu_names_agree(source->kernel, launch->name);
}

/* The program of the launch at hand, found or made; NULL: there is none, and a warning says why. */
static const struct gt_program *find_program(struct ncu *ncu)
{
    const struct gt_ncu_launch *launch = &ncu->raw.launches[ncu->launch];
    struct gt_ncu_source source;
    struct known_program *known = NULL;
    struct gt_error wrong;
    char *path = NULL, *content;
    size_t length;

    if (asprintf(&path, "%s/source.%04" PRIu32 ".csv", ncu->folder, launch->number) < 0)
        gt_bug("no memory for a file name");
    if (gt_ncu_source_read(path, &source, &wrong) != 0) {
        warn(ncu, "launches-without-counts", "%s", wrong.text);
    } else if (is_of_another(&source, launch)) {
        warn(ncu, "launches-without-counts", "%s: belongs to kernel %.200s", path, source.kernel);
    } else if (!is_countable(launch, &source)) {
        warn(ncu, "launches-without-counts",
             "more warp instructions executed than a launch can have, in %s or in total (%g)", path,
             launch->warp_instructions);
    } else if (gt_ncu_code_fill(ncu->code, launch->name, launch->compute_capability, &source, &wrong) != 0) {
        warn(ncu, "launches-without-code", "%s", wrong.text);
    } else {
        content = content_of(launch, &source, &length);
        HASH_FIND(hh, ncu->programs, content, length, known);
        if (known != NULL) {
            free(content);
        } else {
            known = gt_calloc(1, sizeof *known);
            known->content = content;
            known->program = make_program(ncu, &source);
            gt_workload_add_program(ncu->workload, known->program);
            HASH_ADD_KEYPTR(hh, ncu->programs, known->content, length, known);
        }
    }
    gt_ncu_source_free(&source);
    free(path);
    return known != NULL ? known->program : NULL;
}

static uint32_t add_kernel(struct ncu *ncu, const struct gt_program *program)
{
    const struct gt_ncu_launch *launch = &ncu->raw.launches[ncu->launch];
    /* clang-format off */
    struct gt_kernel kernel = {
        .name = gt_name(ncu->workload, launch->name, strlen(launch->name)),
        .registers_per_thread = launch->registers,
        .static_shared_bytes = of_an_sm(launch->static_shared_bytes),
        .dynamic_shared_bytes = of_an_sm(launch->dynamic_shared_bytes),
        .duration_ps = GT_TIME_NONE, .runs = GT_NONE, .arguments = GT_NONE, .program = program,
    };
    /* clang-format on */

    memcpy(kernel.grid, launch->grid, sizeof kernel.grid);
    memcpy(kernel.block, launch->block, sizeof kernel.block);
    if (gt_kernel_cluster_fits(launch->grid, launch->cluster))
        memcpy(kernel.cluster, launch->cluster, sizeof kernel.cluster);
    return gt_workload_kernel(ncu->workload, &kernel);
}

static uint64_t executed(double count)
{
    return count > 0 && count <= (double)GT_PROGRAM_MOST_EXECUTIONS ? (uint64_t)llround(count) : 0;
}

static void add_profile(struct ncu *ncu, uint32_t op)
{
    const struct gt_ncu_launch *launch = &ncu->raw.launches[ncu->launch];
    struct gt_profile profile = {
        .op = op,
        .cycles = (uint64_t)llround(launch->cycles),
        .sm_hz = launch->sm_hz > 0 ? launch->sm_hz : 0,
        .warp_instructions = executed(launch->warp_instructions),
        .busiest_warp_instructions = executed(launch->busiest_warp_instructions),
        .shared_carveout_bytes = of_an_sm(launch->carveout_bytes),
    };

    memcpy(profile.cluster, launch->cluster, sizeof profile.cluster);
    for (int i = 0; i < 4; i++) {
        uint32_t limit = of_an_sm(launch->blocks_limits[i]);

        if (limit > 0 && (profile.blocks_per_sm == 0 || limit < profile.blocks_per_sm))
            profile.blocks_per_sm = limit;
    }
    gt_ncu_memory_use(launch, &profile.use);
    gt_workload_add_profile(ncu->workload, &profile);
}

static void add_launch(struct ncu *ncu)
{
    struct gt_workload *workload = ncu->workload;
    uint32_t kernel = add_kernel(ncu, find_program(ncu));
    uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

    workload->calls[call].kind = GT_CALL_LAUNCH;
    workload->calls[call].thread = ncu->thread;
    workload->calls[call].stream = ncu->stream;
    workload->calls[call].first_op = op;
    workload->calls[call].ops = 1;
    workload->ops[op].kind = GT_OP_KERNEL;
    workload->ops[op].memory = GT_MEMORY_DEVICE;
    workload->ops[op].call = call;
    workload->ops[op].stream = ncu->stream;
    workload->ops[op].kernel = kernel;
    workload->ops[op].duration_ps = (gt_time_ps)llround(ncu->raw.launches[ncu->launch].seconds * 1e12);
    add_profile(ncu, op);
}

static void begin_workload(struct ncu *ncu)
{
    struct gt_workload *workload = ncu->workload;
    const char *gpu = ncu->raw.gpu != NULL ? ncu->raw.gpu : "", *device = gt_gpu_device_file(gpu);
    uint32_t index = gt_workload_add_gpu(workload);

    if (*gpu != '\0')
        workload->gpus[index].name = gt_name(workload, gpu, strlen(gpu));
    if (device != NULL)
        workload->device = strdup(device);
    else
        gt_import_device_unknown(workload);
    ncu->thread = gt_workload_add_thread(workload);
    workload->threads[ncu->thread].name = gt_name(workload, "main", 4);
    ncu->stream = gt_workload_add_stream(workload);
    workload->streams[ncu->stream].gpu = index;
    workload->streams[ncu->stream].flags = GT_STREAM_LEGACY_DEFAULT;
}

static int read_launches(struct ncu *ncu, const struct gt_import_options *options, struct gt_error *error)
{
    if (ncu->raw.unreadable > 0)
        gt_import_warn_text(ncu->workload, "launches-unreadable", ncu->raw.unreadable, ncu->raw.wrong.text);
    ncu->code = gt_ncu_code_open(ncu->folder, ncu->workload, error);
    if (ncu->code == NULL)
        return -1;
    begin_workload(ncu);
    ncu->warm_caches = options != NULL && options->warm_caches;
    for (ncu->launch = 0; ncu->launch < ncu->raw.count; ncu->launch++) {
        add_launch(ncu);
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, ncu->launch + 1, ncu->raw.count);
    }
    return gt_workload_check(ncu->workload, error);
}

static void free_parts(struct ncu *ncu)
{
    struct known_program *known, *next;

    HASH_ITER(hh, ncu->programs, known, next)
    {
        HASH_DEL(ncu->programs, known);
        free(known->content);
        free(known);
    }
    gt_ncu_code_free(ncu->code);
    gt_ncu_raw_free(&ncu->raw);
}

static struct gt_workload *read_folder(const char *folder, const char *path, const struct gt_import_options *options,
                                       struct gt_error *error)
{
    struct ncu ncu = { .workload = gt_workload_new(), .folder = folder };
    char *raw = NULL;
    int status;

    if (asprintf(&raw, "%s/raw.csv", folder) < 0)
        gt_bug("no memory for a file name");
    status = gt_ncu_raw_read(raw, &ncu.raw, error);
    if (status == 0)
        status = read_launches(&ncu, options, error);
    free(raw);
    free_parts(&ncu);
    if (status != 0) {
        gt_workload_free(ncu.workload);
        return NULL;
    }
    ncu.workload->name = gt_path_stem(path);
    ncu.workload->path = strdup(path);
    ncu.workload->source = strdup("ncu");
    return ncu.workload;
}

/* All of `input` into a new file. */
static int copy(struct gt_input *input, const char *path, struct gt_error *error)
{
    FILE *file = fopen(path, "wxe");
    char buffer[64 << 10];
    ssize_t got = 0;

    if (file == NULL)
        return gt_error_set(error, "%s: cannot create: %s", path, strerror(errno));
    do
        got = gt_input_read(input, buffer, sizeof buffer, error);
    while (got > 0 && fwrite(buffer, 1, (size_t)got, file) == (size_t)got);
    if (fclose(file) != 0 || got > 0)
        return gt_error_set(error, "%s: cannot write: %s", path, strerror(errno));
    return got < 0 ? -1 : 0;
}

/* The profiler takes only files by their name: what is none is copied into `folder` for it. */
static int unpack_report(struct gt_input *input, const char *path, const char *folder, struct gt_error *error)
{
    char *report = NULL;
    int status;

    if (gt_input_is_plain_file(input))
        return gt_ncu_report_unpack(path, folder, error);
    if (asprintf(&report, "%s/report.ncu-rep", folder) < 0)
        gt_bug("no memory for a file name");
    status = copy(input, report, error);
    if (status == 0 && gt_ncu_report_unpack(report, folder, error) != 0)
        status = gt_error_prefix(error,
                                 "%s: is not a regular file, and its temporary copy was removed; save it to a file "
                                 "first; error of the copy: ",
                                 path);
    unlink(report);
    free(report);
    return status;
}

static struct gt_workload *read_report(struct gt_input *input, const char *path, const char *keep,
                                       const struct gt_import_options *options, struct gt_error *error)
{
    struct gt_workload *workload = NULL;
    char *temporary = keep == NULL ? gt_temporary_folder("ncu", error) : NULL;
    const char *folder = keep != NULL ? keep : temporary;

    if (folder == NULL)
        return NULL;
    if (keep != NULL && mkdir(keep, 0777) != 0)
        gt_error_set(error, "%s: cannot create this folder: %s", keep, strerror(errno));
    else if (unpack_report(input, path, folder, error) == 0)
        workload = read_folder(folder, path, options, error);
    if (temporary != NULL)
        gt_temporary_remove(temporary);
    free(temporary);
    return workload;
}

static struct gt_workload *read_ncu(const char *path, const struct gt_import_options *options, struct gt_error *error)
{
    struct gt_workload *workload;
    struct gt_input *input;
    struct stat info;

    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return read_folder(path, path, options, error);
    input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    if (input == NULL)
        return NULL;
    workload = read_report(input, path, options != NULL ? options->keep : NULL, options, error);
    gt_input_close(input);
    return workload;
}

static int sniff(const unsigned char *head, size_t bytes)
{
    static const char magic[4] = "NVR"; /* a report's first bytes, NUL included */

    return bytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? 90 : 0;
}

static int sniff_folder(const char *path)
{
    char *raw = NULL;
    int there;

    if (asprintf(&raw, "%s/raw.csv", path) < 0)
        return 0;
    there = access(raw, R_OK) == 0;
    free(raw);
    return there ? 90 : 0;
}

const struct gt_importer gt_importer_ncu = {
    .name = "ncu",
    .help = "Nsight Compute report (.ncu-rep), or a folder of its pages and cubins",
    .sniff = sniff,
    .sniff_folder = sniff_folder,
    .read = read_ncu,
};
