/* accelsim.c - kernelslist.g: what the program did, in order, a line each.
 *
 *     MemcpyHtoD,0x00007f6065600000,4194304
 *     kernel-1.traceg.xz
 *
 * A kernel's file lies beside the list, under that name or with an ending of a compressor more.  Other lines are
 * passed over, as Accel-Sim does.  One kernel's file by itself is a trace of one launch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/accelsim/accelsim.h"
#include "traces/accelsim/internal.h"
#include "traces/import/device.h"
#include "traces/import/warnings.h"
#include "traces/io/data_path.h"
#include "traces/io/device_file.h"
#include "traces/io/lines.h"

enum { MOST_REGISTERS = 255 };

/* Code that no warp executed is kept, too, as long as it is no more than so many instructions and so many for each one that was
 * executed: memory is bounded by the files. */
enum { MOST_UNSEEN = 1 << 20, UNSEEN_EACH = 256 };

static const char list_name[] = "kernelslist.g";

struct importer {
    uint64_t missing_warps; /* of blocks that are there */
    struct gt_workload *workload;
    struct gt_device device; /* whose caches are modelled */
    bool has_device;
    uint32_t gpu, thread;
    uint64_t seen, unseen; /* instructions of programs that were executed, and not */
    uint64_t launches, odd_resources, missing_blocks, ambiguous, programs, assumed_l1;
};

/* The device of the first kernel, by its compute capability: where two have the same they have the same caches.  Where it is
 * not known, its caches are those of the device used by default. */
static int choose_device(struct importer *importer, const struct gt_accelsim_header *header, struct gt_error *error)
{
    char *name;

    if (importer->has_device)
        return 0;
    importer->has_device = true;
    name = gt_device_name_of_capability(header->binary_version);
    if (name == NULL)
        gt_import_device_unknown(importer->workload);
    importer->workload->device = name;
    return gt_device_load(name != NULL ? name : GT_DEVICE_FALLBACK, &importer->device, error);
}

static uint32_t find_stream(struct importer *importer, uint64_t id)
{
    struct gt_workload *workload = importer->workload;
    uint32_t index;

    for (uint32_t i = 0; i < workload->stream_count; i++)
        if (workload->streams[i].id == id)
            return i;
    index = gt_workload_add_stream(workload);
    workload->streams[index].gpu = importer->gpu;
    workload->streams[index].id = id;
    if (id == 0)
        workload->streams[index].flags = GT_STREAM_LEGACY_DEFAULT;
    return index;
}

static struct gt_call *add_call(struct importer *importer, uint8_t kind, uint32_t stream, uint32_t *op)
{
    struct gt_workload *workload = importer->workload;
    uint32_t call = gt_workload_add_call(workload);

    workload->calls[call].kind = kind;
    workload->calls[call].thread = importer->thread;
    workload->calls[call].stream = stream;
    if (op == NULL)
        return &workload->calls[call];
    *op = gt_workload_add_op(workload);
    workload->calls[call].first_op = *op;
    workload->calls[call].ops = 1;
    workload->ops[*op].call = call;
    workload->ops[*op].stream = stream;
    return &workload->calls[call];
}

/* "MemcpyHtoD,0x00007f6065600000,4194304": cuMemcpyHtoD, which waits for its end. */
static int read_copy(struct importer *importer, const char *line, struct gt_error *error)
{
    const char *bytes_text = strrchr(line, ',');
    uint32_t op;
    uint64_t bytes;
    char *end;

    if (bytes_text == NULL || strchr(line, ',') == bytes_text)
        return gt_error_set(error, "a copy that is not MemcpyHtoD,ADDRESS,BYTES");
    bytes = strtoull(bytes_text + 1, &end, 10);
    if (bytes_text[1] < '0' || bytes_text[1] > '9' || end[strspn(end, " \r")] != '\0' || bytes > INT64_MAX)
        return gt_error_set(error, "a copy without its number of bytes");
    add_call(importer, GT_CALL_COPY, find_stream(importer, 0), &op)->flags = GT_CALL_SYNCHRONOUS;
    importer->workload->ops[op].kind = GT_OP_COPY;
    importer->workload->ops[op].direction = GT_H2D;
    importer->workload->ops[op].memory = GT_MEMORY_UNKNOWN;
    importer->workload->ops[op].bytes = bytes;
    return 0;
}

/* Count a program's instructions; an error where too many were not executed. */
static int count_code(struct importer *importer, const struct gt_program *program, struct gt_error *error)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        *(program->instructions[i].executions > 0 ? &importer->seen : &importer->unseen) += 1;
    if (importer->unseen <= MOST_UNSEEN + UNSEEN_EACH * importer->seen)
        return 0;
    return gt_error_set(error,
                        "%" PRIu64 " instructions were not executed, between and before the %" PRIu64
                        " that were, in all kernels so far: the offsets are no code's",
                        importer->unseen, importer->seen);
}

/* A program like it, made before; else itself, which becomes the workload's; NULL with an error. */
static const struct gt_program *share_program(struct importer *importer, struct gt_program *program,
                                              struct gt_error *error)
{
    struct gt_workload *workload = importer->workload;

    for (uint32_t i = 0; i < workload->program_count; i++) {
        const struct gt_program *other = workload->programs[i];

        if (other->instruction_count == program->instruction_count && other->text_bytes == program->text_bytes &&
            other->memory_count == program->memory_count && other->warps == program->warps &&
            other->warps_per_block == program->warps_per_block && other->shared_bytes == program->shared_bytes &&
            other->registers_per_thread == program->registers_per_thread &&
            memcmp(other->text, program->text, program->text_bytes) == 0 &&
            memcmp(other->instructions, program->instructions,
                   program->instruction_count * sizeof *program->instructions) == 0 &&
            memcmp(other->memory, program->memory, program->memory_count * sizeof *program->memory) == 0 &&
            memcmp(&other->use, &program->use, sizeof program->use) == 0) {
            gt_program_free(program);
            return other;
        }
    }
    gt_workload_add_program(workload, program);
    return count_code(importer, program, error) == 0 ? program : NULL;
}

/* The kernel without its program. */
static struct gt_kernel kernel_of(struct importer *importer, const struct gt_accelsim_header *header)
{
    const char *name = header->name != NULL && header->name[0] != '\0' ? header->name : "kernel";
    struct gt_kernel kernel = {
        .name = gt_name(importer->workload, name, strlen(name)),
        .registers_per_thread = header->registers <= MOST_REGISTERS ? header->registers : 0,
        .static_shared_bytes = header->shared_bytes <= GT_ACCELSIM_MOST_SHARED_BYTES ? header->shared_bytes : 0,
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
    };

    memcpy(kernel.grid, header->grid, sizeof kernel.grid);
    memcpy(kernel.block, header->block, sizeof kernel.block);
    return kernel;
}

/* Of the blocks that are there. */
static uint64_t missing_warps(const struct gt_accelsim_header *header, const struct gt_accelsim_folded *folded)
{
    uint64_t warps = folded->blocks * gt_accelsim_warps(header);

    return warps > folded->warps ? warps - folded->warps : 0;
}

static int add_launch(struct importer *importer, const struct gt_accelsim_header *header,
                      const struct gt_accelsim_fold *fold, struct gt_kernel *kernel, struct gt_error *error)
{
    struct gt_accelsim_folded folded;
    uint32_t op;

    gt_accelsim_fold_result(fold, &folded);
    if (folded.instructions == 0)
        return gt_error_set(error, "no instruction: the file was cut off");
    kernel->program = share_program(importer, gt_accelsim_program(importer->workload, header, &folded), error);
    if (kernel->program == NULL)
        return -1;
    if (folded.cluster > 1 && header->grid[0] % folded.cluster == 0) { /* the trace does not say in which direction */
        kernel->cluster[0] = folded.cluster;
        kernel->cluster[1] = kernel->cluster[2] = 1;
    }
    importer->missing_blocks += folded.grid_blocks - folded.blocks;
    importer->missing_warps += missing_warps(header, &folded);
    importer->ambiguous += folded.ambiguous;
    importer->programs++;
    importer->assumed_l1 += gt_accelsim_unified_bytes(header->binary_version) == 0;
    importer->launches++;
    add_call(importer, GT_CALL_LAUNCH, find_stream(importer, header->stream), &op);
    importer->workload->ops[op].kind = GT_OP_KERNEL;
    importer->workload->ops[op].memory = GT_MEMORY_DEVICE;
    importer->workload->ops[op].kernel = gt_workload_kernel(importer->workload, kernel);
    return 0;
}

static int fold_file(struct importer *importer, const char *path, struct gt_accelsim_file *file,
                     struct gt_accelsim_header *header, struct gt_error *error)
{
    struct gt_accelsim_fold *fold;
    struct gt_kernel kernel;
    int status;

    if (choose_device(importer, header, error) != 0)
        return -1;
    kernel = kernel_of(importer, header);
    importer->odd_resources +=
        header->registers > MOST_REGISTERS || header->shared_bytes > GT_ACCELSIM_MOST_SHARED_BYTES;
    header->registers = kernel.registers_per_thread;
    header->shared_bytes = kernel.static_shared_bytes;
    fold = gt_accelsim_fold_new(header, &importer->device, &kernel);
    status = gt_accelsim_file_fold(file, fold, error);
    if (status == 0 && add_launch(importer, header, fold, &kernel, error) != 0)
        status = gt_error_prefix(error, "%s: ", path);
    gt_accelsim_fold_free(fold);
    return status;
}

static int read_kernel(struct importer *importer, const char *path, struct gt_input *opened, struct gt_error *error)
{
    struct gt_accelsim_header header = { 0 };
    struct gt_accelsim_file *file = gt_accelsim_file_open(path, opened, &header, error);
    int status = -1;

    if (file != NULL) {
        status = fold_file(importer, path, file, &header, error);
        gt_accelsim_file_close(file);
    }
    gt_accelsim_header_free(&header);
    return status;
}

/* The file that a line of the list names: it, or it compressed.  The caller's. */
static char *find_kernel(const char *folder, const char *line)
{
    static const char *const endings[] = { "", ".xz", ".gz", ".zst" };
    size_t length = strcspn(line, " \r");

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path = gt_format("%s/%.*s%s", folder, (int)length, line, endings[i]);

        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return gt_format("%s/%.*s", folder, (int)length, line);
}

/* What is said of the list's line at hand, if it does not name a file already. */
static int at_line(const char *path, const struct gt_lines *lines, struct gt_error *error)
{
    if (!gt_error_names(error, path))
        gt_error_prefix(error, "%s:%" PRIu64 ": ", path, lines->number);
    return -1;
}

/* What is wrong with a kernel names that kernel's file. */
static int read_listed_kernel(struct importer *importer, const char *folder, const char *line, struct gt_error *error)
{
    char *path = find_kernel(folder, line);
    int status = read_kernel(importer, path, NULL, error);

    if (status != 0 && !gt_error_names(error, path))
        gt_error_prefix(error, "%s: ", path);
    free(path);
    return status;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int read_lines(struct importer *importer, const char *folder, const char *path, struct gt_input *input,
                      struct gt_lines *lines, const struct gt_import_options *options, struct gt_error *error)
{
    char *line;
    size_t length;
    int status;

    while ((status = gt_lines_next(lines, &line, &length, error)) == 1) {
        line[length - 1] = '\0';
        if (strncmp(line, "kernel", strlen("kernel")) == 0) {
            if (read_listed_kernel(importer, folder, line, error) != 0)
                return -1;
        } else if (strncmp(line, "MemcpyHtoD", strlen("MemcpyHtoD")) == 0 && read_copy(importer, line, error) != 0) {
            return at_line(path, lines, error);
        }
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(input), gt_input_size(input));
    }
    if (status == 0 && importer->workload->op_count == 0)
        status = gt_error_set(error, "the list names neither a kernel nor a copy");
    return status == 0 ? 0 : at_line(path, lines, error);
}

static int read_list(struct importer *importer, const char *path, struct gt_input *input,
                     const struct gt_import_options *options, struct gt_error *error)
{
    char *folder = folder_of(path);
    struct gt_lines lines;
    int status;

    gt_lines_open(&lines, input);
    status = read_lines(importer, folder, path, input, &lines, options, error);
    gt_lines_close(&lines);
    free(folder);
    return status;
}

static void begin_workload(struct importer *importer, const char *path)
{
    struct gt_workload *workload = importer->workload;

    importer->gpu = gt_workload_add_gpu(workload);
    importer->thread = gt_workload_add_thread(workload);
    workload->threads[importer->thread].name = gt_name(workload, "main", strlen("main"));
    workload->name = gt_path_stem(path);
    workload->path = strdup(path);
    workload->source = strdup("accelsim");
}

static void warn_of(struct importer *importer)
{
    const struct {
        const char *kind;
        uint64_t count;
    } warnings[] = {
        { "caches-modelled", importer->programs },           { "control-guessed", importer->programs },
        { "blocks-missing", importer->missing_blocks },      { "instructions-ambiguous", importer->ambiguous },
        { "resources-unreadable", importer->odd_resources }, { "l1-size-assumed", importer->assumed_l1 },
        { "warps-missing", importer->missing_warps },
    };

    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
        if (warnings[i].count > 0)
            gt_import_warn(importer->workload, warnings[i].kind, warnings[i].count);
}

static bool is_kernel(struct gt_input *input)
{
    size_t bytes;
    const unsigned char *head = gt_input_head(input, 1, &bytes);

    return bytes > 0 && head[0] == '-';
}

/* `named`: what the user gave, a folder or `path`. */
static struct gt_workload *read_input(const char *named, const char *path, struct gt_input *input,
                                      const struct gt_import_options *options, struct gt_error *error)
{
    struct importer importer = { .workload = gt_workload_new() };
    int status;

    begin_workload(&importer, named);
    status = is_kernel(input) ? read_kernel(&importer, path, input, error)
                              : read_list(&importer, path, input, options, error);
    if (status == 0) {
        add_call(&importer, GT_CALL_DEVICE_SYNC, GT_NONE, NULL);
        warn_of(&importer);
        if (importer.workload->device == NULL && !importer.has_device)
            gt_import_device_unknown(importer.workload);
        status = gt_workload_check(importer.workload, error);
    }
    if (status == 0)
        return importer.workload;
    gt_workload_free(importer.workload);
    return NULL;
}

static struct gt_workload *read_accelsim(const char *path, const struct gt_import_options *options,
                                         struct gt_error *error)
{
    struct gt_workload *workload = NULL;
    struct gt_input *input;
    struct stat info;
    char *list = NULL;

    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        list = gt_format("%s/%s", path, list_name);
    input =
        gt_input_share(list != NULL || options == NULL ? NULL : options->input, list != NULL ? list : path, error);
    if (input != NULL) {
        workload = read_input(path, list != NULL ? list : path, input, options, error);
        gt_input_close(input);
    }
    free(list);
    return workload;
}

/* A kernel's first line is "-kernel name = ", the list's a copy or a kernel's file. */
static int sniff(const unsigned char *head, size_t bytes)
{
    static const char *const begins[] = { "-kernel name = ", "MemcpyHtoD,0x", "kernel-" };

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (bytes > strlen(begins[i]) && memcmp(head, begins[i], strlen(begins[i])) == 0)
            return 90;
    return 0;
}

static int sniff_folder(const char *path)
{
    char *list = gt_format("%s/%s", path, list_name);
    int there = access(list, R_OK) == 0;

    free(list);
    return there ? 90 : 0;
}

const struct gt_importer gt_importer_accelsim = {
    .name = "accelsim",
    .help = "Accel-Sim trace: a folder with kernelslist.g, the list, or one kernel (.traceg, .tracez)",
    .sniff = sniff,
    .sniff_folder = sniff_folder,
    .read = read_accelsim,
};
