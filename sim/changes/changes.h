/* changes.h - the table of changes: what a SPEC means, and many of them applied as one scenario. */
#ifndef GRIDTIDE_SIM_CHANGES_CHANGES_H
#define GRIDTIDE_SIM_CHANGES_CHANGES_H

#include "sim/changes/change.h"

struct gt_change {
    const struct gt_change_kind *kind;
    const char *spec;     /* as typed */
    const char *argument; /* within spec; "" where there is none */
};

/* All kinds, in the order in which changes of one scenario are applied whatever their order on the command line. */
extern const struct gt_change_kind *const gt_change_kinds[];
extern const size_t gt_change_kind_count;

/* What `spec` asks for, into *change; the text must outlive it.  Returns 0; -1 with the changes that there are. */
int gt_change_parse(const char *spec, struct gt_change *change, struct gt_error *error);

/* Apply them all to the scenario, in the order of the table.  Returns 0; -1 with "SPEC: the reason". */
int gt_changes_apply(const struct gt_change *changes, size_t count, struct gt_scenario *scenario,
                     struct gt_error *error);

#endif
