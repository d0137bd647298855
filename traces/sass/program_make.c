#include "traces/sass/program_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/sass/cubin.h"

float gt_program_mean(double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.6g", value);
    return strtof(text, NULL);
}

static void copy_texts(struct gt_program *program, const struct gt_program_row *rows, uint32_t count)
{
    size_t bytes = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(rows[i].text) + 1;
    program->text = gt_realloc(NULL, bytes, 1);
    program->text_bytes = (uint32_t)bytes;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(rows[i].text) + 1;

        memcpy(program->text + at, rows[i].text, length);
        program->instructions[i].text = at;
        at += (uint32_t)length;
    }
}

static void add_access(struct gt_program *program, struct gt_instruction *instruction, const struct gt_access *access,
                       const struct gt_program_row *row)
{
    struct gt_access *added = &program->memory[program->memory_count];

    instruction->memory = GT_NONE;
    if (access->space == GT_SPACE_NONE)
        return;
    *added = row->access;
    added->space = access->space;
    added->width_bytes = access->width_bytes;
    added->address = access->address;
    added->bypass_l1 = access->bypass_l1;
    added->l2_fetch_bytes = access->l2_fetch_bytes;
    if (row->space != GT_SPACE_NONE && access->space == GT_SPACE_GENERIC)
        added->space = row->space;
    instruction->memory = program->memory_count++;
}

/* A target in bytes becomes an instruction's index; one that is none is taken away. */
static void resolve_target(struct gt_sass_flow *flow, uint32_t count)
{
    if (!flow->has_target)
        return;
    flow->has_target =
        flow->target % GT_PROGRAM_INSTRUCTION_BYTES == 0 && flow->target / GT_PROGRAM_INSTRUCTION_BYTES < count;
    flow->target /= GT_PROGRAM_INSTRUCTION_BYTES;
}

static void fill(struct gt_program *program, uint32_t i, const struct gt_program_row *row, struct gt_sass_flow *flow,
                 bool *known)
{
    struct gt_instruction *instruction = &program->instructions[i];
    struct gt_sass_control control;
    struct gt_access access;

    gt_sass_control_unpack(row->control, &control);
    instruction->offset_bytes = i * GT_PROGRAM_INSTRUCTION_BYTES;
    instruction->executions = row->executions;
    instruction->threads = row->threads;
    instruction->threads_on = row->threads_on;
    instruction->stall_cycles = control.stall_cycles;
    instruction->yield = control.yield;
    instruction->write_barrier = control.write_barrier > 5 ? GT_NO_BARRIER : control.write_barrier;
    instruction->read_barrier = control.read_barrier > 5 ? GT_NO_BARRIER : control.read_barrier;
    instruction->wait_mask = control.wait_mask;
    instruction->reuse = control.reuse;
    *known = gt_sass_parse(row->text, instruction, &access, flow);
    add_access(program, instruction, &access, row);
}

struct gt_program *gt_program_make(const struct gt_program *head, const struct gt_program_row *rows, uint32_t count,
                                   struct gt_flow_report *report, uint32_t *unknown, uint32_t *first_unknown)
{
    struct gt_program *program = gt_calloc(1, sizeof *program);
    struct gt_sass_flow *flows = gt_calloc(count, sizeof *flows);
    uint64_t *divergent = gt_calloc(count, sizeof *divergent);
    bool known;

    *program = (struct gt_program){
        .key = strdup(head->key),
        .registers_per_thread = head->registers_per_thread,
        .shared_bytes = head->shared_bytes,
        .compute_capability = head->compute_capability,
        .warm_caches = head->warm_caches,
        .warps = head->warps,
        .warps_per_block = head->warps_per_block,
        .use = head->use,
        .instruction_count = count,
    };
    program->instructions = gt_calloc(count, sizeof *program->instructions);
    program->memory = gt_calloc(count, sizeof *program->memory);
    *unknown = 0;
    *first_unknown = GT_NONE;
    copy_texts(program, rows, count);
    for (uint32_t i = 0; i < count; i++) {
        fill(program, i, &rows[i], &flows[i], &known);
        resolve_target(&flows[i], count);
        divergent[i] = rows[i].divergent;
        if (!known && (*unknown)++ == 0)
            *first_unknown = i;
    }
    gt_program_build(program, flows, divergent, report);
    free(flows);
    free(divergent);
    return program;
}
