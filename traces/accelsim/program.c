/* program.c - the rows of a kernel become its program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"
#include "traces/import/warnings.h"
#include "traces/sass/control_guess.h"
#include "traces/sass/program_make.h"
#include "traces/sass/sass.h"

static float mean(uint64_t sum, uint64_t executions)
{
    return executions == 0 ? 0 : gt_program_mean((double)sum / (double)executions);
}

/* Do some threads skip it? */
static bool is_guarded(const struct gt_accelsim_row *row)
{
    return row->partly > 0;
}

static uint8_t usual_space(const struct gt_accelsim_row *row)
{
    uint8_t usual = GT_SPACE_GLOBAL;

    for (uint8_t space = 0; space < GT_SPACES; space++)
        if (row->spaces[space] > row->spaces[usual])
            usual = space;
    return usual;
}

static void make_row(struct gt_program_row *made, const struct gt_accelsim_row *row,
                     const struct gt_accelsim_header *header)
{
    uint64_t n = row->executions;

    *made = (struct gt_program_row){
        .text = row->fields == NULL ? strdup("NOP") : gt_accelsim_sass(row, header, is_guarded(row)),
        .space = row->space == GT_SPACE_GENERIC ? usual_space(row) : GT_SPACE_NONE,
        .executions = n,
        .divergent = row->divergent,
        .threads = mean(row->threads, n),
        .threads_on = mean(row->threads_on, n),
        .access = { .sectors = mean(row->sectors, n),
                    .sectors_ideal = mean(row->sectors_ideal, n),
                    .tag_requests = mean(row->tag_requests, n),
                    .wavefronts = mean(row->wavefronts, n),
                    .wavefronts_ideal = mean(row->wavefronts_ideal, n),
                    .bulk_bytes = mean(row->bulk_bytes, n) },
    };
}

static void warn(struct gt_workload *workload, const struct gt_accelsim_header *header, const char *kind,
                 const char *text)
{
    char *whole = gt_format("kernel %.200s: %s", header->name != NULL ? header->name : "without a name", text);

    gt_import_warn_text(workload, kind, 1, whole);
    free(whole);
}

static void say_what_is_odd(struct gt_workload *workload, const struct gt_accelsim_header *header,
                            const struct gt_program *program, const struct gt_flow_report *report, uint32_t unknown,
                            uint32_t first_unknown)
{
    char text[256];

    if (unknown > 0) {
        snprintf(text, sizeof text, "%u unknown instructions, the first: %.100s; they are treated as simple ones",
                 unknown, gt_program_text(program, first_unknown));
        warn(workload, header, "opcodes-unknown", text);
    }
    if (program->block_count == 0) {
        warn(workload, header, "flow-too-large", "too much control flow to reconstruct");
    } else if (program->flow_broken) {
        snprintf(
            text, sizeof text,
            "instruction counts contradict the control flow for %.1f%% of the warp instructions; most at 0x%" PRIx64,
            report->imbalance * 100, gt_accelsim_offset(header, report->worst));
        warn(workload, header, "flow-broken", text);
    }
}

struct gt_program *gt_accelsim_program(struct gt_workload *workload, const struct gt_accelsim_header *header,
                                       const struct gt_accelsim_folded *folded)
{
    struct gt_program_row *rows;
    struct gt_program *program;
    struct gt_flow_report report;
    uint32_t unknown, first_unknown;
    char key[24];
    struct gt_program head = {
        .key = key,
        .registers_per_thread = header->registers,
        .shared_bytes = header->shared_bytes,
        .compute_capability = header->binary_version,
        .warps = folded->warps,
        .warps_per_block = gt_accelsim_warps(header),
        .use = folded->use,
    };

    rows = gt_calloc(folded->count, sizeof *rows);
    for (uint32_t i = 0; i < folded->count; i++)
        make_row(&rows[i], &folded->rows[i], header);
    gt_control_guess(rows, folded->count);
    snprintf(key, sizeof key, "p%u", workload->program_count);
    program = gt_program_make(&head, rows, folded->count, &report, &unknown, &first_unknown);
    say_what_is_odd(workload, header, program, &report, unknown, first_unknown);
    for (uint32_t i = 0; i < folded->count; i++)
        free((char *)(uintptr_t)rows[i].text);
    free(rows);
    return program;
}
