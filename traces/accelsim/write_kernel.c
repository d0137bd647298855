/* write_kernel.c - a launch with a program as a kernel's file of tracer version 6 (traceg.c has the form, line.c a line's).
 *
 * Opcodes and registers are the machine code's, paths and counts the profile's; which threads are active and all addresses
 * are made up so that means agree with it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/warp/launch.h"
#include "traces/accelsim/internal.h"
#include "traces/sass/program_make.h"

enum { MOST_TEXT = 512, MOST_OPCODE = 100, VERSION = 6, MOST_RESULTS = 1, MOST_SOURCES = 4 };

#define SHARED_WINDOW 0x7f0000000000u
#define LOCAL_WINDOW  0x7f1000000000u

/* An instruction's parts that are the same each time. */
struct form {
    char head[MOST_TEXT]; /* " 1 R4 LDG.E 2 UR4 R2 " with the flag of a matrix product */
    uint64_t immediate[2];
    bool bulk;
};

struct writer {
    const struct gt_workload *workload;
    const struct gt_kernel *kernel;
    const struct gt_program *program;
    struct gt_accelsim_header header;
    struct gt_warp_paths *paths;
    struct gt_accelsim_places *places;
    struct form *forms; /* [instruction] */
    struct gt_output *output;
};

/* Accel-Sim takes one result and four sources: of more, vector registers go before uniform ones, these before predicates. */
static int put_registers(char *text, size_t room, const struct gt_instruction *in, bool written)
{
    static const char *const names[] = { "R", "UR", "P", "UP" };
    static const uint8_t order[] = { GT_FILE_VECTOR, GT_FILE_UNIFORM, GT_FILE_PREDICATE, GT_FILE_UNIFORM_PREDICATE };
    bool taken[GT_INSTRUCTION_OPERANDS] = { false };
    uint32_t most = written ? MOST_RESULTS : MOST_SOURCES, count = 0;
    int length;

    for (size_t file = 0; file < sizeof order; file++)
        for (uint32_t k = 0; k < in->operand_count && count < most; k++) {
            const struct gt_operand *operand = &in->operands[k];

            if (operand->file == order[file] && (operand->flags & GT_OPERAND_GUARD) == 0 &&
                ((operand->flags & GT_OPERAND_WRITTEN) != 0) == written) {
                taken[k] = true;
                count++;
            }
        }
    length = snprintf(text, room, " %" PRIu32, count);
    for (uint32_t k = 0; k < in->operand_count; k++)
        if (taken[k])
            length += snprintf(text + length, room - (size_t)length, " %s%u", names[in->operands[k].file],
                               in->operands[k].number);
    return length;
}

/* The first two operands that are whole numbers by themselves. */
static void find_immediates(const char *text, uint64_t *immediate)
{
    uint32_t count = 0;

    for (const char *at = strchr(text, ' '); at != NULL && count < 2; at = strchr(at, ',')) {
        char *end;
        unsigned long long number;

        at += strspn(at, ", ");
        number = strtoull(at, &end, 0);
        if (*at >= '0' && *at <= '9' && (*end == '\0' || *end == ','))
            immediate[count++] = number;
    }
}

static void make_form(struct form *form, const struct gt_accelsim_header *header, const struct gt_program *program,
                      uint32_t i)
{
    const struct gt_instruction *in = &program->instructions[i];
    const char *text = gt_program_text(program, i);
    struct gt_accelsim_word opcode;
    size_t room = sizeof form->head;
    int length;

    if (text[0] == '@')
        text += strcspn(text, " ") + (strchr(text, ' ') != NULL);
    opcode = (struct gt_accelsim_word){ text, (uint32_t)strcspn(text, " ,") };
    opcode.length = opcode.length < MOST_OPCODE ? opcode.length : MOST_OPCODE;
    length = put_registers(form->head, room, in, true);
    length += snprintf(form->head + length, room - (size_t)length, " %.*s", (int)opcode.length, opcode.text);
    length += put_registers(form->head + length, room - (size_t)length, in, false);
    snprintf(form->head + length, room - (size_t)length, "%s ",
             memmem(opcode.text, opcode.length, "GMMA", 4) == NULL ? ""
             : in->argument == 1                                   ? " 1"
                                                                   : " 0");
    form->bulk = gt_accelsim_is_bulk(&opcode);
    find_immediates(text, form->immediate);
    if (in->action == GT_ACTION_BRANCH || in->action == GT_ACTION_DIVERGE) /* programs have 16 bytes an instruction */
        form->immediate[0] = gt_accelsim_offset(header, form->immediate[0] / GT_PROGRAM_INSTRUCTION_BYTES);
}

static bool is_whole_run(uint32_t mask)
{
    uint32_t from_first = mask >> __builtin_ctz(mask);

    return (from_first & (from_first + 1)) == 0;
}

/* A base and a stride, or what each thread is beyond the one before. */
static int put_addresses(char *text, size_t room, uint32_t mask, const uint64_t *address)
{
    int64_t step[GT_ACCELSIM_LANES] = { 0 };
    uint32_t first = (uint32_t)__builtin_ctz(mask), steps = 0;
    uint64_t before = address[first];
    bool uniform = is_whole_run(mask);
    int length;

    for (uint32_t lane = first + 1; lane < GT_ACCELSIM_LANES; lane++)
        if ((mask >> lane & 1) != 0) {
            step[steps++] = (int64_t)(address[lane] - before);
            before = address[lane];
        }
    for (uint32_t k = 1; k < steps; k++)
        uniform = uniform && step[k] == step[0];
    if (uniform)
        return snprintf(text, room, " 1 0x%" PRIx64 " %" PRId64, address[first], step[0]);
    length = snprintf(text, room, " 2 0x%" PRIx64, address[first]);
    for (uint32_t k = 0; k < steps; k++)
        length += snprintf(text + length, room - (size_t)length, " %" PRId64, step[k]);
    return length;
}

/* Width and addresses of what moves data; "0" of all else. */
static int put_memory(struct writer *writer, char *text, size_t room, uint32_t i, uint32_t mask)
{
    const struct gt_instruction *in = &writer->program->instructions[i];
    const struct gt_access *access = in->memory == GT_NONE ? NULL : &writer->program->memory[in->memory];
    uint64_t address[GT_ACCELSIM_LANES];
    int length;

    if (writer->forms[i].bulk) {
        uint64_t bytes = access != NULL && access->bulk_bytes > 0 ? (uint64_t)llround(access->bulk_bytes) : 0;

        return snprintf(text, room, "%d 0x0 0 %" PRIu64 " 0 3 1 0x%" PRIx64, GT_LINE_BYTES, bytes,
                        gt_accelsim_places_bulk(writer->places, i, bytes));
    }
    if (access == NULL || access->space == GT_SPACE_NONE || access->space == GT_SPACE_CONSTANT ||
        access->space == GT_SPACE_TEXTURE || access->width_bytes == 0 || mask == 0)
        return snprintf(text, room, "0");
    gt_accelsim_places_choose(writer->places, i, mask, &writer->header, address);
    length = snprintf(text, room, "%u", access->width_bytes);
    return length + put_addresses(text + length, room - (size_t)length, mask, address);
}

/* Threads that execute it: of the last one of a basic block the walk says so. */
static uint32_t mask_of(struct writer *writer, const struct gt_warp_visit *visit, uint32_t i, bool last)
{
    uint8_t end = writer->program->blocks[visit->block].end;

    if (last && (end == GT_END_BRANCH || end == GT_END_EXIT))
        return visit->leave;
    return gt_accelsim_places_threads(writer->places, i, visit->active);
}

static int write_visit(struct writer *writer, const struct gt_warp_visit *visit, struct gt_error *error)
{
    const struct gt_basic_block *block = &writer->program->blocks[visit->block];

    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        uint32_t mask = mask_of(writer, visit, i, i + 1 == block->first + block->count);
        char text[MOST_TEXT * 2];
        int length;

        length = snprintf(text, sizeof text, "%04" PRIx64 " %08" PRIx32 "%s", gt_accelsim_offset(&writer->header, i),
                          mask, writer->forms[i].head);
        length += put_memory(writer, text + length, sizeof text - (size_t)length, i, mask);
        length += snprintf(text + length, sizeof text - (size_t)length, " %" PRIu64 " %" PRIu64 " NoVal\n",
                           writer->forms[i].immediate[0], writer->forms[i].immediate[1]);
        if (gt_output_write(writer->output, text, (size_t)length, error) != 0)
            return -1;
    }
    return 0;
}

static int write_warp(struct writer *writer, uint32_t warp, const struct gt_warp_path *path, struct gt_error *error)
{
    uint64_t instructions = 0;

    for (uint32_t k = 0; k < path->count; k++)
        instructions += writer->program->blocks[path->visits[k].block].count;
    if (gt_output_printf(writer->output, error, "warp = %" PRIu32 "\ninsts = %" PRIu64 "\n", warp, instructions) != 0)
        return -1;
    for (uint32_t k = 0; k < path->count; k++)
        if (write_visit(writer, &path->visits[k], error) != 0)
            return -1;
    return gt_output_printf(writer->output, error, "\n");
}

/* Clusters lie along the first side of the grid that they fit, as far as is known. */
static int write_block_head(struct writer *writer, uint64_t block, struct gt_error *error)
{
    const uint32_t *grid = writer->header.grid, *cluster = writer->kernel->cluster;
    uint32_t at[3] = { (uint32_t)(block % grid[0]), (uint32_t)(block / grid[0] % grid[1]),
                       (uint32_t)(block / grid[0] / grid[1]) };
    uint32_t in[3];

    if (gt_output_printf(writer->output, error, "#BEGIN_TB\n\nthread block = %u,%u,%u\n", at[0], at[1], at[2]) != 0)
        return -1;
    for (int k = 0; k < 3; k++)
        in[k] = cluster[k] > 1 ? at[k] % cluster[k] : 0;
    if ((uint64_t)cluster[0] * cluster[1] * cluster[2] > 1 &&
        gt_output_printf(writer->output, error, "cluster id = %u,%u,%u\ncluster cta = %u,%u,%u\ncluster rank = %u\n",
                         at[0] / cluster[0], at[1] / cluster[1], at[2] / cluster[2], in[0], in[1], in[2],
                         in[0] + cluster[0] * (in[1] + cluster[1] * in[2])) != 0)
        return -1;
    return gt_output_printf(writer->output, error, "\n");
}

static int write_block(struct writer *writer, uint64_t block, uint32_t warps, struct gt_error *error)
{
    const struct gt_warp_path *paths = gt_warp_paths_next(writer->paths, error);

    if (paths == NULL || write_block_head(writer, block, error) != 0)
        return -1;
    gt_accelsim_places_block(writer->places);
    for (uint32_t w = 0; w < warps; w++)
        if (write_warp(writer, w, &paths[w], error) != 0)
            return -1;
    return gt_output_printf(writer->output, error, "#END_TB\n\n");
}

static int write_header(const struct writer *writer, uint32_t id, struct gt_error *error)
{
    const struct gt_accelsim_header *header = &writer->header;

    return gt_output_printf(
        writer->output, error,
        "-kernel name = %s\n-kernel id = %" PRIu32 "\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n-shmem = %u\n"
        "-nregs = %u\n-binary version = %u\n-cuda stream id = %" PRIu64 "\n-shmem base_addr = 0x%016" PRIx64
        "\n-local mem base_addr = 0x%016" PRIx64 "\n-nvbit version = none\n-accelsim tracer version = %u\n"
        "-enable lineinfo = 0\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
        "[adrrescompress?] [mem_addresses] immediate immediate2\n\n",
        header->name, id, header->grid[0], header->grid[1], header->grid[2], header->block[0], header->block[1],
        header->block[2], header->shared_bytes, header->registers, header->binary_version, header->stream,
        header->shared_base, header->local_base, header->version);
}

static void begin(struct writer *writer, const struct gt_workload *workload, gt_op_index op)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    const struct gt_program *program = kernel->program;

    writer->workload = workload;
    writer->kernel = kernel;
    writer->program = program;
    writer->header = (struct gt_accelsim_header){
        .name = (char *)gt_name_text(workload, kernel->name),
        .grid = { kernel->grid[0], kernel->grid[1], kernel->grid[2] },
        .block = { kernel->block[0], kernel->block[1], kernel->block[2] },
        .shared_bytes = kernel->static_shared_bytes + kernel->dynamic_shared_bytes,
        .registers = kernel->registers_per_thread > 0 ? kernel->registers_per_thread : program->registers_per_thread,
        .binary_version = program->compute_capability,
        .version = VERSION,
        .stream = workload->streams[workload->ops[op].stream].id,
        .shared_base = SHARED_WINDOW,
        .local_base = LOCAL_WINDOW,
    };
    writer->forms = gt_calloc(program->instruction_count, sizeof *writer->forms);
    for (uint32_t i = 0; i < program->instruction_count; i++)
        make_form(&writer->forms[i], &writer->header, program, i);
}

int gt_accelsim_write_kernel(const struct gt_workload *workload, gt_op_index op, uint32_t id,
                             const struct gt_device *device, struct gt_output *output, struct gt_error *error)
{
    struct writer writer = { .output = output };
    struct gt_warp_launch launch;
    int status;

    if (gt_warp_launch_of(device, workload, op, &launch, error) != 0)
        return -1;
    writer.paths = gt_warp_paths_new(
        device, &launch, (uint32_t)gt_kernel_threads(&workload->kernels[workload->ops[op].kernel]), error);
    if (writer.paths == NULL)
        return -1;
    writer.places = gt_accelsim_places_new(&launch, writer.paths);
    begin(&writer, workload, op);
    status = write_header(&writer, id, error);
    for (uint64_t block = 0; block < launch.blocks && status == 0; block++)
        status = write_block(&writer, block, launch.warps_per_block, error);
    gt_accelsim_places_free(writer.places);
    gt_warp_paths_free(writer.paths);
    free(writer.forms);
    return status;
}

double gt_accelsim_kernel_instructions(const struct gt_workload *workload, gt_op_index op)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    double warps = (double)gt_kernel_blocks(kernel) * ceil((double)gt_kernel_threads(kernel) / GT_ACCELSIM_LANES);

    /* A warp of which nothing was counted is written, too. */
    return fmax(warps, (double)kernel->program->warp_instructions / fmax(1, (double)kernel->program->warps) * warps);
}
