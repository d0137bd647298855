/* warnings.h - what a recording may lack, in words, and what to do so that the next one has it.
 *
 * The table is the only place for these words; gridtide-traces(7) shows it to people, and a test holds the two
 * together.
 */
#ifndef GRIDTIDE_TRACES_IMPORT_WARNINGS_H
#define GRIDTIDE_TRACES_IMPORT_WARNINGS_H

#include "sim/workload/workload.h"

struct gt_warning_kind {
    const char *kind;   /* a short hyphenated word, as stores and traces have it */
    const char *source; /* the importer that it is of ("kineto"); NULL: any for which there is no other row */
    const char *text;   /* what is missing or odd, and what was taken instead */
    const char *remedy; /* what to do about it; NULL: nothing can be done */
};
extern const struct gt_warning_kind gt_warning_kinds[]; /* sorted by kind, then source; ended by a NULL kind */

/* The kind of which a trace's reader speaks each time; all others are a recording's, and told once. */
#define GT_WARNING_MISSPELT "unknown-fields"
/* The kind that says that recorded durations are all that is known of the GPU. */
#define GT_WARNING_UNMODELLED "gpu-not-modelled"
/* Kinds that only a simulation finds. */
#define GT_WARNING_CONTENTION    "contention-unexplained"
#define GT_WARNING_CONTRADICTING "dependencies-contradict"
#define GT_WARNING_EXTRAPOLATED  "collectives-extrapolated"
#define GT_WARNING_PENDING       "launches-pending"
#define GT_WARNING_DEPTH         "launches-too-deep"

/* Count `count` more warnings of a kind that the table has for the workload's source; they read
 * "text; remedy".  A kind that it does not have is a mistake in this program. */
void gt_import_warn(struct gt_workload *workload, const char *kind, uint64_t count);
/* gt_import_warn() with `text` in place of the table's: what was found the first time. */
void gt_import_warn_text(struct gt_workload *workload, const char *kind, uint64_t count, const char *text);

#endif
