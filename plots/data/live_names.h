/* live_names.h - the names on a timeline, each once, with what it is the name of and its colour. */
#ifndef GRIDTIDE_PLOTS_DATA_LIVE_NAMES_H
#define GRIDTIDE_PLOTS_DATA_LIVE_NAMES_H

#include <stdint.h>

/* What a name is of: its letter in the page's data. */
enum gt_live_kind {
    GT_LIVE_KERNEL = 'k',
    GT_LIVE_COPY_IN = 'i',
    GT_LIVE_COPY_OUT = 'o',
    GT_LIVE_OTHER_OP = 'm',
    GT_LIVE_CALL = 'c',
    GT_LIVE_RANGE = 'r',
};

struct gt_live_name {
    char *text; /* as traced */
    enum gt_live_kind kind;
    uint32_t rgb;
};

struct gt_live_names {
    struct gt_live_name *rows;
    uint32_t count, room;
    struct gt_live_index *index;
};

/* The place of a name of that kind, which is added where it is new. */
uint32_t gt_live_name(struct gt_live_names *names, enum gt_live_kind kind, const char *text, uint32_t rgb);
void gt_live_names_free(struct gt_live_names *names);

#endif
