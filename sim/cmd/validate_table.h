/* validate_table.h - what `gridtide validate` and `gridtide compare` print of validated traces. */
#ifndef GRIDTIDE_SIM_CMD_VALIDATE_TABLE_H
#define GRIDTIDE_SIM_CMD_VALIDATE_TABLE_H

#include "sim/cmd/table.h"
#include "validate/validate.h"

struct gt_validated_row {
    char *name;
    struct gt_validated validated;
};

/* Line by line, while the work goes on: the heading, one trace. */
void gt_validated_print_heading(FILE *out);
void gt_validated_print_row(FILE *out, const struct gt_validated_row *row);
/* The end: the summary below the lines; in csv and json everything at once. */
void gt_validated_print_end(FILE *out, enum gt_format format, const struct gt_validated_row *rows, uint32_t count,
                            const struct gt_suite *suite);

#endif
