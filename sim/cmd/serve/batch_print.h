/* batch_print.h - what `gridtide batch` prints. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_BATCH_PRINT_H
#define GRIDTIDE_SIM_CMD_SERVE_BATCH_PRINT_H

#include "sim/cmd/print/table.h"
#include "sim/cmd/serve/pass_costs.h"

/* What results rest on. */
struct gt_batch_basis {
    const struct gt_pass_sources *sources;
    bool beside, divided; /* a policy puts prompts beside sequences, divides the SMs */
};

/* One run of the engine. */
struct gt_batch_result {
    const struct gt_engine_file *file;
    const char *policy; /* as asked */
    double per_s;       /* requests that arrive; NAN: as a file has them */
    const struct gt_token_request *requests;
    const struct gt_token_record *records;
    uint32_t count;
    const struct gt_batch_summary *summary;
    const struct gt_batch_engine *engine;
    struct gt_batch_basis basis;
};

/* One run in full. */
void gt_batch_print(const struct gt_batch_result *result, enum gt_format format);

/* What the grids hold. */
void gt_batch_costs_print(const struct gt_pass_costs *costs, enum gt_format format);

/* Of several runs a row each. */
struct gt_table *gt_batch_sweep_table(void);
void gt_batch_sweep_add(struct gt_table *table, const struct gt_batch_result *result);
/* The rows, and what they rest on. */
void gt_batch_sweep_print(struct gt_table *table, const struct gt_batch_basis *basis, enum gt_format format);

#endif
