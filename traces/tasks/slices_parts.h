/* slices_parts.h - what the readers of recordings of workers share. */
#ifndef GRIDTIDE_TRACES_TASKS_SLICES_PARTS_H
#define GRIDTIDE_TRACES_TASKS_SLICES_PARTS_H

#include "traces/tasks/slices.h"

enum { GT_SLICES_MOST_BLOCKS = 1 << 20 }; /* a block's number is below */

/* Kinds by name, while a file is read. */
struct gt_slice_kinds;
/* The index in slices->kinds of the kind that a slice of this name has, added if it is not there. */
uint32_t gt_slices_kind(struct gt_task_slices *slices, struct gt_slice_kinds **kinds, const char *name,
                        size_t length);
void gt_slice_kinds_free(struct gt_slice_kinds **kinds);

/* One reader a format: slices in any order.  0; -1 with "PATH: ..." in error. */
bool gt_slices_is_perfetto(const unsigned char *head, size_t bytes);
int gt_slices_read_perfetto(struct gt_task_slices *slices, struct gt_input *input, const char *path,
                            struct gt_error *error);
bool gt_slices_is_json(const unsigned char *head, size_t bytes);
/* JSON that begins as a Chrome trace does, whoever wrote it. */
bool gt_slices_is_chrome(const unsigned char *head, size_t bytes);
/* Times are cycles, but for the start of a worker's first slice, which is nanoseconds. */
int gt_slices_read_proton(struct gt_task_slices *slices, struct gt_input *input, const char *path,
                          struct gt_error *error);

#endif
