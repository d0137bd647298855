/* families.h - kinds of random traces, one table. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_FAMILIES_H
#define GRIDTIDE_VALIDATE_RANDOM_FAMILIES_H

#include "validate/random/script.h"

struct gt_family {
    const char *name, *help;
    /* Write definitions and calls; the header stands already, gt_script_end() comes after. What is drawn comes from
     * script->chance alone, so that the same seed gives the same trace. */
    void (*write)(struct gt_script *script);
    bool by_name;   /* drawn only where it is asked for: recordings were made of all the others in turn */
    bool of_list;   /* draws among kernels of a list */
    bool processes; /* its threads are processes that share a GPU */
};
extern const struct gt_family gt_families[];
extern const size_t gt_family_count;

/* The family of that name (`length` bytes of it), or NULL. */
const struct gt_family *gt_family_find(const char *name, size_t length);

#endif
